import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryPropertyList
import FerryZip

/// Gathers what a plan is made of, and every reason against it.
struct Planner {
    let request: SigningRequest
    let contents: ArchiveContents
    let original: BundleTree
    let overlay: Overlay
    let now: Int64
    var reasons: [SignError.Reason] = []
    var warnings: [String] = []
    /// The entitlements that are given, by bundle's path.
    private var entitlements: [String: PropertyList.Dictionary] = [:]

    init(request: SigningRequest, contents: ArchiveContents, original: BundleTree, overlay: Overlay, now: Int64) {
        self.request = request
        self.contents = contents
        self.original = original
        self.overlay = overlay
        self.now = now
    }

    mutating func plan() throws(SignError) -> SigningPlan {
        reasons += contents.tree.problems().map { SignError.Reason($0) }
        warnings += contents.tree.warnings.map(\.description)
        checkIdentity()
        gatherEntitlements()

        let profiles = request.options.signs ? request.options.profiles : []
        let choice = UniqueIdentifier.choose(
            request.options.recipe.uniqueID,
            original: contents.tree.root.identifier ?? "",
            wanted: request.options.wantedIdentifier,
            team: request.options.identity?.team,
            profiles: profiles
        )
        warnings += [choice.warning].compactMap(\.self)
        let identifiers = IdentifierPlan.plan(
            contents.tree,
            newIdentifier: choice.identifier,
            foreign: request.options.foreignWish,
            documentGroup: { wanted in
                ProvisioningProfile.best(for: wanted.identifier, among: profiles)?
                    .appGroup(insteadOf: wanted.group, renames: wanted.renames)
            }
        )
        reasons += identifiers.problems.map { SignError.Reason($0) }
        warnings += identifiers.warnings.map(\.description)

        for path in identifiers.dropped {
            for addition in overlay.additions where Overlay.isAtOrBelow(addition.name.text, path) {
                reasons.append(.init("\(addition.name.text): it is added, and \(path) is dropped."))
            }
        }

        let all = contents.tree.root.deepestFirst()
        let signatures = Set(all.map { EntryName($0.path + "/_CodeSignature") })
        let live = all.filter { bundle in
            !identifiers.dropped.contains { bundle.path == $0 || bundle.path.beginsExactly(with: $0 + "/") }
                // What lies among an old signature goes with it.
                && !SigningPlan.isSignaturePart(bundle.path, of: signatures)
        }
        let bundles = live.compactMap { plan($0, identifiers) }
        checkCode(identifiers.dropped)
        checkLibraries()
        guard reasons.isEmpty else { throw SignError(.refused, request.shownInput, reasons) }
        return SigningPlan(
            request: request,
            contents: contents,
            original: original,
            overlay: overlay,
            bundles: bundles,
            renames: identifiers.renames,
            dropped: identifiers.dropped,
            warnings: warnings,
            leftOut: SigningPlan.leftOut(
                of: contents,
                signed: bundles,
                dropped: identifiers.dropped,
                request.options.signatures
            )
        )
    }

    private mutating func checkIdentity() {
        if let pageSize = request.options.pageSize, pageSize != 4096, pageSize != 16384 {
            reasons.append(.init("Pages of \(pageSize) bytes are not possible.", remedy: "Choose 4096 or 16384."))
        }
        guard let identity = request.options.identity else { return }
        let leaf = identity.leaf
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
        if identity.team == nil {
            reasons.append(
                .init(
                    "The certificate “\(leaf.subject)” names no team (OU).",
                    remedy: "Sign with a development or distribution certificate from Apple."
                )
            )
        }
    }

    /// Finds the bundles that entitlements are given for; the options go before the recipe.
    private mutating func gatherEntitlements() {
        for (name, source) in request.options.recipe.entitlements.sorted(by: { $0.key < $1.key }) {
            switch source {
            case .inline(let dictionary): give(dictionary, to: name)
            case .file(let path):
                do {
                    let bytes = try WholeFile.read(path, limit: 16 << 20)
                    guard let dictionary = try PropertyList.parse(bytes).value.dictionary else {
                        reasons.append(.init("\(path): the entitlements are no dictionary."))
                        continue
                    }
                    give(dictionary, to: name)
                } catch let error as FileFailure {
                    reasons.append(.init(error))
                } catch {
                    reasons.append(.init(error, at: path))
                }
            }
        }
        for (name, dictionary) in request.options.bundleEntitlements.sorted(by: { $0.key < $1.key }) {
            give(dictionary, to: name)
        }
        if let main = request.options.entitlements { entitlements[contents.tree.root.path] = main }
    }

    private mutating func give(_ dictionary: PropertyList.Dictionary, to name: String) {
        let bundles = contents.tree.bundles.filter(\.kind.hasProfile)
        let found =
            name == "app"
            ? [contents.tree.root]
            : bundles.filter { $0.identifier == name || $0.name.utf8.elementsEqual(name.utf8) }
        for bundle in found { entitlements[bundle.path] = dictionary }
        guard found.isEmpty else { return }
        reasons.append(
            .init(
                "Entitlements are given for “\(name.printable)”, and no app or extension is called that.",
                remedy: "There is \(bundles.compactMap(\.identifier).joined(separator: ", "))."
            )
        )
    }

    private mutating func plan(_ bundle: Bundle, _ identifiers: IdentifierPlan) -> SigningPlan.CodeBundle? {
        guard let path = bundle.executable, let executable = contents.file(named: path) else { return nil }
        let identifier = identifiers.identifiers[bundle.path] ?? bundle.identifier ?? Self.stem(bundle.name)
        var profile: ProvisioningProfile?
        if bundle.kind.hasProfile, needsProfile {
            profile = self.profile(for: bundle, identifier)
        }
        if [bundle.infoPlistPath, bundle.profilePath].contains(path) || BundlePath.isJunk(path) {
            reasons.append(
                .init(
                    "\(path): no executable can be there, for the file of this name is another or is left out.",
                    remedy: "Do not trust this app; get it from where it was published."
                )
            )
        } else if request.options.signs, contents.code[executable.index] == nil,
            !contents.refused.contains(executable.index)
        {
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
            entitlements: entitlements[bundle.path],
            executable: executable
        )
    }

    /// An ad-hoc signature takes profiles where there are any.
    private var needsProfile: Bool {
        request.options.identity != nil || request.options.signs && !request.options.profiles.isEmpty
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
        if let override = entitlements[bundle.path] {
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
            certificateDER: identity?.leaf.der,
            at: Double(now),
            platform: bundle.info.platform,
            device: request.options.device
        ).map { SignError.Reason($0) }
        if let team = identity?.team, !profile.teamIdentifiers.isEmpty, !profile.teamIdentifiers.contains(team) {
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
                guard request.options.signs else { continue }
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
