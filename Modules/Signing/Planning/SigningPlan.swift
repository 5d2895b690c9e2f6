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
        /// Entitlements that are given for it, in place of what it asked for before.
        let entitlements: PropertyList.Dictionary?
        /// Its executable.
        let executable: ArchiveFile
    }

    let request: SigningRequest
    let contents: ArchiveContents
    /// The app as the archive holds it.
    let original: BundleTree
    /// What is not as the archive holds it, but for what signing itself writes.
    let overlay: Overlay
    /// The bundles that are signed, each after all those inside it.
    let bundles: [CodeBundle]
    /// All identifiers of the app and what each becomes.
    let renames: [String: String]
    /// Paths of bundles to leave out.
    let dropped: [String]
    let warnings: [String]
    /// What is left out of the output, by its entry's index: junk, old signatures, dropped extensions.
    let leftOut: Set<Int>
    /// What an earlier pass found of the archive.
    var survey = ArchiveSurvey()
    /// Where what is known is kept.
    var look: ArchiveCache.Look?
}

extension SigningPlan {
    private static let signatureFolder = "/_CodeSignature"

    /// Finds what is left out, in one walk over the entries.
    static func leftOut(
        of contents: ArchiveContents,
        signed: [CodeBundle],
        dropped: [String],
        _ signatures: SigningOptions.Signatures
    ) -> Set<Int> {
        let strays = Set(contents.tree.strays.map(EntryName.init))
        var folders: Set<EntryName> = []
        var seals: Set<EntryName> = []
        var profiles: Set<EntryName> = []
        switch signatures {
        case .left: break
        case .removed:
            let all = contents.tree.root.deepestFirst()
            folders = Set(all.map { EntryName($0.path + signatureFolder) })
            profiles = Set(all.map { EntryName($0.profilePath) })
        case .made, .adHoc:
            folders = Set(signed.map { EntryName($0.bundle.path + signatureFolder) })
            seals = Set(signed.map { EntryName($0.bundle.path + "/" + ResourceSeal.path) })
        }
        let droppedFolders = dropped.map { $0 + "/" }
        var leftOut: Set<Int> = []
        for entry in contents.files {
            let name = EntryName(entry.name)
            let isDropped =
                droppedFolders.contains { entry.name.beginsExactly(with: $0) } || dropped.contains(entry.name)
            if isDropped || BundlePath.isJunk(entry.name) || strays.contains(name) || profiles.contains(name) {
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
    static func isSignaturePart(_ path: String, of folders: Set<EntryName>) -> Bool {
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

    /// What a bundle's executable is signed as.
    func role(of bundle: CodeBundle) -> CodePreparer.Role {
        CodePreparer.Role(
            identifier: bundle.identifier,
            isBundleExecutable: true,
            isSealed: bundle.bundle.path != contents.tree.root.path,
            isEntitled: bundle.bundle.kind.hasProfile,
            profile: bundle.profile,
            oldIdentifier: bundle.bundle.identifier,
            override: bundle.entitlements,
            mode: request.options.recipe.entitlementsMode ?? .app
        )
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
    /// - Parameter cache: what is known of archives; `nil` for nothing.
    static func make(
        _ request: SigningRequest,
        now: Int64,
        overlay: Overlay = Overlay(),
        cache: ArchiveCache? = nil,
        workers: Workers
    ) async throws(SignError) -> SigningPlan {
        do {
            let opened = try OpenedArchive(request.input)
            let look = cache?.look(opened.source, opened.directory, sha256: request.inputSHA256)
            var survey = look?.survey ?? ArchiveSurvey()
            if look?.isKnown != true, let ahead = request.ahead {
                survey = await ahead.survey(of: opened.source, opened.directory)
            }
            let options = request.options
            let editor = RecipeEditor(options.recipe, on: opened, iconImage: options.iconImage)
            var overlay = overlay
            overlay.merge(editor.overlay)
            let injector = Injector(options.recipe, on: opened, beside: overlay)
            overlay.merge(injector.overlay)
            let check = OverlayCheck(overlay, on: opened)
            // The rest is planned all the same, so that people hear of everything at once.
            overlay.forget(check.refused)
            let contents = try await ArchiveContents.read(opened, overlay, survey: survey, with: workers)
            var planner = Planner(
                request: request,
                contents: contents,
                original: opened.tree,
                overlay: overlay,
                now: now
            )
            planner.reasons = editor.reasons + injector.reasons + check.reasons + contents.reasons
            planner.warnings = editor.warnings + injector.warnings
            var plan = try planner.plan()
            plan.survey = survey
            plan.look = look
            return plan
        } catch {
            throw SignError(wrapping: error, .refused, request.input, name: request.inputName)
        }
    }
}
