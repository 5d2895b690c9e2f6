import FerryPropertyList

/// What becomes of an extension whose identifier is not below its host's, which no device installs.
public enum ForeignExtensions: String, Sendable, Hashable, CaseIterable {
    /// It gets the host's identifier, a dot, and the last part of its own.
    case reparent
    /// It keeps its identifier, for targets that do not mind.
    case keep
    /// It is left out of the app.
    case drop
    /// The app is refused.
    case fail
}

/// A file provider's app group that is to be replaced by one that its profile grants.
public struct DocumentGroupRequest: Sendable {
    /// The extension.
    public let bundle: Bundle
    /// The bundle identifier that it will have, which decides its profile.
    public let identifier: String
    /// The app group that its Info.plist names.
    public let group: String
    /// The identifiers of the whole app and what each becomes.
    public let renames: [String: String]
}

/// Which bundle gets which identifier, and what that changes in each Info.plist.
///
/// An identifier changes only where it is the app's old one or goes on after it with a dot, and there only at its
/// beginning. Then each app and extension must lie below the identifier of the nearest app or extension around it.
public struct IdentifierPlan: Sendable {
    /// The Info.plists that change, under their bundles' paths; all others stay byte for byte.
    public private(set) var changes: [String: InfoPlist] = [:]
    /// The identifier that each bundle that has one will have, under its path.
    public private(set) var identifiers: [String: String] = [:]
    /// The app's and its extensions' old identifiers and what each becomes, whether it changes or not.
    public private(set) var renames: [String: String] = [:]
    /// The paths of bundles to leave out, with all that is in them.
    public private(set) var dropped: [String] = []
    /// What a signer should hear.
    public private(set) var warnings: [BundleWarning] = []
    /// Why the plan must not be followed; empty where it may.
    public private(set) var problems: [AppBundleError] = []

    private let foreign: ForeignExtensions
    private var taken: Set<String> = []
    private var reserved: Set<String> = []

    /// Plans the identifiers of `tree`.
    ///
    /// `newIdentifier` is the app's; `nil` keeps it. `documentGroup` says which app group a file provider's profile grants
    /// in place of the one that it names now; `nil` from it is told as a warning, no closure at all leaves the groups be.
    public static func plan(
        _ tree: BundleTree,
        newIdentifier: String? = nil,
        foreign: ForeignExtensions = .reparent,
        documentGroup: ((DocumentGroupRequest) -> String?)? = nil
    ) -> IdentifierPlan {
        var plan = IdentifierPlan(foreign: foreign)
        guard let old = tree.root.identifier else { return plan }
        let new = newIdentifier ?? old
        if newIdentifier != nil, let fault = BundleIdentifier.fault(new) {
            plan.problems.append(
                AppBundleError(
                    .identifierIllegal,
                    tree.root.path,
                    "“\(AppBundleError.printable(new))” cannot be its bundle identifier: \(fault).",
                    remedy: "Give one like com.example.app."
                )
            )
            return plan
        }
        for bundle in tree.bundles where bundle.kind.hasProfile {
            guard let identifier = bundle.identifier else { continue }
            plan.reserved.insert(BundleIdentifier.replacing(old, by: new, in: identifier) ?? identifier)
        }
        plan.name(tree.root, new)
        plan.descend(tree.root, from: old, to: new, container: (old, new))
        plan.edit(tree.root, app: (old, new), host: nil, documentGroup)
        return plan
    }

    private init(foreign: ForeignExtensions) {
        self.foreign = foreign
    }

    // MARK: Identifiers

    private mutating func name(_ bundle: Bundle, _ identifier: String) {
        identifiers[bundle.path] = identifier
        guard bundle.kind.hasProfile, let old = bundle.identifier else { return }
        renames[old] = renames[old] ?? identifier
        guard !taken.insert(identifier).inserted else { return }
        problems.append(
            AppBundleError(
                .identifierTaken,
                bundle.path,
                "its bundle identifier \(AppBundleError.printable(identifier)) is another bundle's too.",
                remedy: "Give the app another identifier, or leave out one of the two."
            )
        )
    }

    private mutating func descend(
        _ bundle: Bundle,
        from old: String,
        to new: String,
        container: (old: String, new: String)
    ) {
        for child in bundle.children {
            guard let identifier = child.identifier else {
                descend(child, from: old, to: new, container: container)
                continue
            }
            guard child.kind.hasProfile else {
                name(child, identifier)
                descend(child, from: old, to: new, container: container)
                continue
            }
            let mapped = BundleIdentifier.replacing(old, by: new, in: identifier) ?? identifier
            guard let final = place(child, mapped, container) else { continue }
            name(child, final)
            descend(child, from: old, to: new, container: (identifier, final))
        }
    }

    /// The identifier that an app or extension gets in its container; `nil` where it is left out.
    private mutating func place(
        _ bundle: Bundle,
        _ mapped: String,
        _ container: (old: String, new: String)
    ) -> String? {
        if BundleIdentifier.isBelow(mapped, container.new) { return mapped }
        let identifier = bundle.identifier ?? mapped
        let shown = AppBundleError.printable(identifier)
        let host = AppBundleError.printable(container.new)
        switch foreign {
        case .reparent:
            // An extension of a re-parented extension follows it.
            let below =
                identifier != container.old
                ? BundleIdentifier.replacing(container.old, by: container.new, in: identifier) : nil
            let final = free(below ?? container.new + "." + Self.lastPart(of: identifier))
            warnings.append(
                BundleWarning(
                    bundle.path,
                    "its identifier \(shown) is not below \(host) as it must be; it becomes "
                        + AppBundleError.printable(final)
                )
            )
            return final
        case .keep:
            warnings.append(
                BundleWarning(
                    bundle.path,
                    "its identifier \(shown) is not below \(host); devices refuse such an app"
                )
            )
            return mapped
        case .drop:
            dropped.append(bundle.path)
            warnings.append(
                BundleWarning(bundle.path, "its identifier \(shown) is not below \(host); it is left out")
            )
            return nil
        case .fail:
            problems.append(
                AppBundleError(
                    .identifierForeign,
                    bundle.path,
                    "its identifier \(shown) is not below its host's, \(host).",
                    remedy: "Let it be re-parented with --foreign-extensions reparent, or left out with drop."
                )
            )
            return mapped
        }
    }

    private static func lastPart(of identifier: String) -> String {
        identifier.split(separator: ".").last.map(String.init) ?? "extension"
    }

    /// `wanted`, with a number behind it where another bundle has or will have it.
    private func free(_ wanted: String) -> String {
        var candidate = wanted
        var number = 2
        while taken.contains(candidate) || reserved.contains(candidate) {
            candidate = "\(wanted)-\(number)"
            number += 1
        }
        return candidate
    }

    // MARK: Info.plists

    private mutating func edit(
        _ bundle: Bundle,
        app: (old: String, new: String),
        host: String?,
        _ documentGroup: ((DocumentGroupRequest) -> String?)?
    ) {
        guard !dropped.contains(bundle.path) else { return }
        var inner = host
        if bundle.kind.hasProfile, bundle.hasInfoPlist {
            var info = bundle.info
            if let identifier = identifiers[bundle.path], identifier != info.identifier {
                info.identifier = identifier
            }
            if let companion = info.companionIdentifier {
                // The phone app around it, whatever it was called; alone in an archive it follows the app's name.
                let renamed = host ?? renamed(companion, app)
                if renamed != companion { info.companionIdentifier = renamed }
            }
            if let watchApp = info.watchAppIdentifier {
                let renamed = renamed(watchApp, app)
                if renamed != watchApp { info.watchAppIdentifier = renamed }
            }
            if let documentGroup, let group = info.fileProviderGroup {
                let request = DocumentGroupRequest(
                    bundle: bundle,
                    identifier: identifiers[bundle.path] ?? "",
                    group: group,
                    renames: renames
                )
                if let granted = documentGroup(request) {
                    if granted != group { info.fileProviderGroup = granted }
                } else {
                    warnings.append(
                        BundleWarning(
                            bundle.path,
                            "its files are kept in the app group \(AppBundleError.printable(group)), "
                                + "and its profile grants none"
                        )
                    )
                }
            }
            if info.isChanged { changes[bundle.path] = info }
            if bundle.kind == .app { inner = identifiers[bundle.path] ?? host }
        }
        for child in bundle.children { edit(child, app: app, host: inner, documentGroup) }
    }

    private func renamed(_ identifier: String, _ app: (old: String, new: String)) -> String {
        renames[identifier] ?? BundleIdentifier.replacing(app.old, by: app.new, in: identifier) ?? identifier
    }
}
