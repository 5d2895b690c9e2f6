import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryMachO

/// What an app needs to show Live Activities: without it the app installs and runs, and has no island.
///
/// That its extension's identifier lies under the app's is asked of every extension.
struct LiveActivityRules {
    let tree: BundleTree
    let code: [ArchiveVerifier.CodeFile]

    static let widgetPoint = "com.apple.widgetkit-extension"

    /// Checks an app that says it has Live Activities, or whose code uses them; all are warnings.
    func faults() -> [Fault] {
        let app = tree.root
        let extensions = tree.bundles.filter { $0.kind == .appExtension && $0.container == app.path }
        let widgets = extensions.filter { $0.info.extensionPoint == Self.widgetPoint && $0.isCode }
        let isUsed = code.contains { uses("ActivityKit", $0) }
        guard app.info.supportsLiveActivities || isUsed else { return [] }

        var faults: [Fault] = []
        if !app.info.supportsLiveActivities {
            faults.append(
                warning(
                    .liveActivityKey,
                    app.path + "/Info.plist",
                    "Code uses ActivityKit, but NSSupportsLiveActivities is not set: iOS starts no Live Activity.",
                    "Set it: --set NSSupportsLiveActivities=true."
                )
            )
        }
        guard widgets.isEmpty else { return faults }
        let misdeclared = extensions.filter { isWidgetCode($0) && $0.info.extensionPoint != Self.widgetPoint }
        faults += misdeclared.map { bundle in
            warning(
                .liveActivityPoint,
                bundle.path,
                "Its code uses WidgetKit, but it is declared as \(bundle.info.extensionPoint ?? "nothing"), not as "
                    + "\(Self.widgetPoint): iOS looks for no Live Activity in it.",
                "Set NSExtension.NSExtensionPointIdentifier to \(Self.widgetPoint)."
            )
        }
        if misdeclared.isEmpty {
            let empty = extensions.first { $0.info.extensionPoint == Self.widgetPoint }
            faults.append(
                warning(
                    .liveActivityExtension,
                    empty?.path ?? app.path,
                    empty == nil
                        ? "The app has Live Activities, but no extension that draws them (\(Self.widgetPoint))."
                        : "The extension that draws Live Activities has no executable in it.",
                    "Sign the app with its extensions, or get it again: some tools leave them out."
                )
            )
        }
        return faults
    }

    private func isWidgetCode(_ bundle: Bundle) -> Bool {
        code.contains { $0.path == bundle.executable && uses("WidgetKit", $0) }
    }

    private func uses(_ framework: String, _ file: ArchiveVerifier.CodeFile) -> Bool {
        let path = "/System/Library/Frameworks/\(framework).framework/\(framework)"
        return file.images.contains { $0.image.libraries.contains { $0.path == path } }
    }

    private func warning(_ code: Fault.Code, _ place: String, _ message: String, _ remedy: String) -> Fault {
        Fault(code, at: place, message, remedy: remedy, isWarning: true)
    }
}
