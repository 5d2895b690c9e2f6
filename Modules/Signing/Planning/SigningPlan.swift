import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryPropertyList
import FerryZip

/// Everything that is decided before a byte is written.
struct SigningPlan: Sendable {
    /// A bundle that is signed as code.
    struct CodeBundle: Sendable {
        let bundle: Bundle
        /// What its signature is made out to.
        let identifier: String
        /// Its profile; `nil` for frameworks and their kin.
        let profile: ProvisioningProfile?
        /// Its Info.plist's new bytes; `nil` where it stays.
        let infoPlist: [UInt8]?
        /// Its executable's entry.
        let executable: ArchiveFile
    }

    let request: SigningRequest
    let contents: ArchiveContents
    /// The bundles that are signed, each after all those inside it.
    let bundles: [CodeBundle]
    /// All identifiers of the app and what each becomes.
    let renames: [String: String]
    /// Paths of bundles to leave out.
    let dropped: [String]
    let warnings: [String]
    /// What is left out of the output, by its entry's index: junk, old signatures, dropped extensions.
    let leftOut: Set<Int>
}

extension SigningPlan {
    private static let signatureFolder = "/_CodeSignature"

    /// Finds what is left out, in one walk over the entries.
    fileprivate static func leftOut(
        of contents: ArchiveContents,
        signed: [CodeBundle],
        dropped: [String]
    ) -> Set<Int> {
        let strays = Set(contents.tree.strays.map(EntryName.init))
        let folders = Set(signed.map { EntryName($0.bundle.path + signatureFolder) })
        let droppedFolders = dropped.map { $0 + "/" }
        let seals = Set(signed.map { EntryName($0.bundle.path + "/" + ResourceSeal.path) })
        var leftOut: Set<Int> = []
        for entry in contents.files {
            let name = EntryName(entry.name)
            let isDropped =
                droppedFolders.contains { entry.name.beginsExactly(with: $0) } || dropped.contains(entry.name)
            if isDropped || BundlePath.isJunk(entry.name) || strays.contains(name) {
                leftOut.insert(entry.index)
            } else if !seals.contains(name), isSignaturePart(entry.name, of: folders) {
                leftOut.insert(entry.index)
            }
        }
        return leftOut
    }

    /// Whether a path is, or lies in, one of the folders of old signatures.
    ///
    /// The folder itself stays, as the new seal goes there; a file or link in its place would hide it.
    fileprivate static func isSignaturePart(_ path: String, of folders: Set<EntryName>) -> Bool {
        let utf8 = Array(path.utf8)
        let part = Array(signatureFolder.utf8)
        guard utf8.count >= part.count else { return false }
        for start in 0...utf8.count - part.count where utf8[start..<start + part.count].elementsEqual(part) {
            let end = start + part.count
            guard end == utf8.count || utf8[end] == UInt8(ascii: "/"), end + 1 != utf8.count else { continue }
            if folders.contains(EntryName(String(decoding: utf8[..<end], as: UTF8.self))) { return true }
        }
        return false
    }

    /// Whether an entry is left out of the output.
    func isLeftOut(_ file: ArchiveFile) -> Bool {
        leftOut.contains(file.index)
    }
}

extension SigningPlan {
    /// Makes the plan, or refuses with every reason at once.
    ///
    /// - Parameter overlay: edits beside those of the request.
    static func make(
        _ request: SigningRequest,
        now: Int64,
        overlay: Overlay = Overlay(),
        workers: Workers
    ) async throws(SignError) -> SigningPlan {
        let contents: ArchiveContents
        do {
            let opened = try OpenedArchive(request.input)
            let check = OverlayCheck(overlay, on: opened)
            guard check.reasons.isEmpty else { throw SignError(.refused, request.shownInput, check.reasons) }
            contents = try await ArchiveContents.read(opened, overlay, with: workers)
        } catch {
            throw SignError(wrapping: error, .refused, request.input, name: request.inputName)
        }
        var planner = Planner(request: request, contents: contents, now: now)
        planner.reasons += contents.reasons
        return try planner.plan()
    }
}

/// Gathers what a plan is made of, and every reason against it.
private struct Planner {
    let request: SigningRequest
    let contents: ArchiveContents
    let now: Int64
    var reasons: [SignError.Reason] = []
    var warnings: [String] = []

    init(request: SigningRequest, contents: ArchiveContents, now: Int64) {
        self.request = request
        self.contents = contents
        self.now = now
    }

    mutating func plan() throws(SignError) -> SigningPlan {
        reasons += contents.tree.problems().map { SignError.Reason($0) }
        warnings += contents.tree.warnings.map(\.description)
        checkIdentity()

        let profiles = request.options.profiles
        let identifiers = IdentifierPlan.plan(
            contents.tree,
            newIdentifier: request.options.bundleIdentifier,
            foreign: request.options.foreignExtensions,
            documentGroup: { wanted in
                ProvisioningProfile.best(for: wanted.identifier, among: profiles)?
                    .appGroup(insteadOf: wanted.group, renames: wanted.renames)
            }
        )
        reasons += identifiers.problems.map { SignError.Reason($0) }
        warnings += identifiers.warnings.map(\.description)

        let all = contents.tree.root.deepestFirst()
        let signatures = Set(all.map { EntryName($0.path + "/_CodeSignature") })
        let live = all.filter { bundle in
            !identifiers.dropped.contains { bundle.path == $0 || bundle.path.beginsExactly(with: $0 + "/") }
                // What lies among an old signature goes with it.
                && !SigningPlan.isSignaturePart(bundle.path, of: signatures)
        }
        let bundles = live.compactMap { plan($0, identifiers) }
        checkCode(identifiers.dropped)
        guard reasons.isEmpty else { throw SignError(.refused, request.shownInput, reasons) }
        return SigningPlan(
            request: request,
            contents: contents,
            bundles: bundles,
            renames: identifiers.renames,
            dropped: identifiers.dropped,
            warnings: warnings,
            leftOut: SigningPlan.leftOut(of: contents, signed: bundles, dropped: identifiers.dropped)
        )
    }

    private mutating func checkIdentity() {
        let leaf = request.options.identity.leaf
        let day: Int64 = 86400
        if leaf.notAfter <= now {
            reasons.append(
                .init(
                    "The certificate “\(leaf.commonName ?? leaf.subject)” expired \((now - leaf.notAfter) / day) days ago.",
                    remedy: "Make a new certificate on developer.apple.com and export it with its key."
                )
            )
        } else if leaf.notBefore > now {
            reasons.append(
                .init(
                    "The certificate “\(leaf.commonName ?? leaf.subject)” is not valid yet.",
                    remedy: "Check this machine's clock."
                )
            )
        } else if leaf.notAfter - now < 14 * day {
            warnings.append(
                "The certificate “\(leaf.commonName ?? leaf.subject)” expires in \((leaf.notAfter - now) / day) days."
            )
        }
        if request.options.identity.team == nil {
            reasons.append(
                .init(
                    "The certificate “\(leaf.subject)” names no team (OU).",
                    remedy: "Sign with a development or distribution certificate from Apple."
                )
            )
        }
        if let pageSize = request.options.pageSize, pageSize != 4096, pageSize != 16384 {
            reasons.append(.init("Pages of \(pageSize) bytes are not possible.", remedy: "Choose 4096 or 16384."))
        }
    }

    private mutating func plan(_ bundle: Bundle, _ identifiers: IdentifierPlan) -> SigningPlan.CodeBundle? {
        guard let path = bundle.executable, let executable = contents.file(named: path) else { return nil }
        let identifier = identifiers.identifiers[bundle.path] ?? bundle.identifier ?? Self.stem(bundle.name)
        var profile: ProvisioningProfile?
        if bundle.kind.hasProfile {
            profile = self.profile(for: bundle, identifier)
        }
        if [bundle.infoPlistPath, bundle.profilePath].contains(path) || BundlePath.isJunk(path) {
            reasons.append(
                .init(
                    "\(path): no executable can be there, for the file of this name is another or is left out.",
                    remedy: "Do not trust this app; get it from where it was published."
                )
            )
        } else if contents.code[executable.index] == nil, !contents.refused.contains(executable.index) {
            // Frameworks too: their Info.plist says that this is code.
            let error = contents.damaged[executable.index]
            reasons.append(
                .init(
                    "\(path): \(error?.message ?? "the executable is no Mach-O file that iOS runs.")",
                    remedy: error?.remedy ?? "Get the app again; it cannot be installed."
                )
            )
        }
        return SigningPlan.CodeBundle(
            bundle: bundle,
            identifier: identifier,
            profile: profile,
            infoPlist: identifiers.changes[bundle.path]?.encoded(),
            executable: executable
        )
    }

    private mutating func profile(for bundle: Bundle, _ identifier: String) -> ProvisioningProfile? {
        let usable = request.options.profiles.filter { obstacles($0, bundle, identifier).isEmpty }
        guard
            // Of those that do not fit, the closest one says best what is wrong.
            let profile = ProvisioningProfile.best(for: identifier, among: usable)
                ?? ProvisioningProfile.best(for: identifier, among: request.options.profiles)
        else {
            let patterns = request.options.profiles.map { "“\($0.name)” for \($0.bundlePattern)" }.joined(
                separator: ", "
            )
            reasons.append(
                .init(
                    request.options.profiles.isEmpty
                        ? "\(bundle.path): a provisioning profile for \(identifier) is needed."
                        : "\(bundle.path): none of the profiles is for \(identifier); there is \(patterns).",
                    remedy: "Pass one for this identifier or a wildcard by --profile, or choose another --bundle-id."
                )
            )
            return nil
        }
        let problems = obstacles(profile, bundle, identifier)
        reasons += problems
        if let override = request.options.entitlements, bundle.path == contents.tree.root.path {
            let plan = EntitlementsPlan.plan(
                requested: nil,
                profile: profile,
                newIdentifier: identifier,
                override: override
            )
            reasons += plan.problems.map { SignError.Reason($0) }
        }
        let days = profile.expiration.flatMap { Int(exactly: (($0 - Double(now)) / 86400).rounded(.down)) } ?? .max
        if problems.isEmpty, days < 14 {
            warnings.append("The profile “\(profile.name)” expires in \(days) days.")
        }
        return profile
    }

    /// Everything for which a device would refuse a bundle under a profile.
    private func obstacles(
        _ profile: ProvisioningProfile,
        _ bundle: Bundle,
        _ identifier: String
    ) -> [SignError.Reason] {
        let identity = request.options.identity
        var obstacles = profile.problems(
            for: identifier,
            certificateDER: identity.leaf.der,
            at: Double(now),
            platform: bundle.info.platform,
            device: request.options.device
        ).map { SignError.Reason($0) }
        if let team = identity.team, !profile.teamIdentifiers.isEmpty, !profile.teamIdentifiers.contains(team) {
            obstacles.append(
                .init(
                    "The profile “\(profile.name)” is of team \(profile.teamIdentifier), the certificate of team \(team).",
                    remedy: "Choose a profile and a certificate of one team."
                )
            )
        }
        return obstacles
    }

    private mutating func checkCode(_ dropped: [String]) {
        for entry in contents.files {
            if dropped.contains(where: { entry.name.beginsExactly(with: $0 + "/") }) { continue }
            if let code = contents.code[entry.index] {
                if code.images.contains(where: \.isEncrypted) {
                    reasons.append(
                        .init(
                            "\(entry.name): the code is encrypted by the App Store (FairPlay).",
                            remedy: "Only its buyer's devices run it; get the app from its developer."
                        )
                    )
                }
                if let obstacle = code.obstacle {
                    reasons.append(.init(obstacle, at: entry.name))
                }
            } else if let damage = contents.damaged[entry.index] {
                warnings.append("\(entry.name): it begins like code, but \(damage.message) It is sealed as a resource.")
            }
        }
    }

    /// What stands before the last dot of a file's name.
    static func stem(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }
}
