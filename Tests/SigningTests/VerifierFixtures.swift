import FerryAppBundle
import FerryCodeSignature
import FerryPropertyList
import FerrySigning
import Foundation
import TestKit

/// An app that a device would take, but for its authority: what the checks of ``Verifier`` begin with.
enum Berth {
    static let app = "Payload/A.app/"
    static let widget = "Payload/A.app/PlugIns/W.appex"
    static let framework = "/System/Library/Frameworks/"
    static let verifier = Verifier(threadCount: 2, now: { Hands.now })
    /// The device that all profiles of the tests list.
    static let device = "00008110-000000000000001E"
    /// What the tests' own authority is worth: a warning each time.
    static let authority = "foreign-authority?"

    /// With a widget that declares itself.
    static func archive(_ change: (inout Archive) -> Void = { _ in }) -> Archive {
        .sample { archive in
            set(&archive, app + "Info.plist") {
                $0["MinimumOSVersion"] = "15.0"
                $0["CFBundleSupportedPlatforms"] = ["iPhoneOS"]
            }
            set(&archive, widget + "/Info.plist") {
                $0["MinimumOSVersion"] = "15.0"
                $0["NSExtension"] = ["NSExtensionPointIdentifier": "com.apple.widgetkit-extension"]
            }
            change(&archive)
        }
    }

    /// Changes a property list of an archive, which stays binary.
    static func set(_ archive: inout Archive, _ path: String, _ change: (inout PropertyList.Dictionary) -> Void) {
        guard let bytes = archive[path], var list = try? PropertyList.parse(bytes[...]).value.dictionary else {
            preconditionFailure("\(path) is in every sample")
        }
        change(&list)
        archive[path] = PropertyList.dictionary(list).encoded(as: .binary)
    }

    /// The codes of what is found; warnings have a question mark behind them.
    static func codes(_ path: String, for device: TargetDevice = .init()) async throws -> Set<String> {
        Set(try await verifier.verify(path, for: device).map { $0.code.rawValue + ($0.isWarning ? "?" : "") })
    }
}

/// Archives made by Python's `zipfile`, which knows nothing of ours.
enum PythonZip {
    static let exists = Tool("python3") != nil && Tool("zip") != nil && Tool("unzip") != nil
    static let absent = "python3, zip or unzip is missing"

    /// Runs a script with `z`, an archive at `path` that is open to be added to, and `link(name, target)`.
    static func add(_ script: String, to path: String) async throws {
        let whole = """
            import sys, warnings, zipfile
            warnings.simplefilter("ignore")
            def link(name, target):
                info = zipfile.ZipInfo(name)
                info.create_system, info.external_attr = 3, 0o120777 << 16
                z.writestr(info, target)
            with zipfile.ZipFile(sys.argv[1], "a") as z:
                \(script)
            """
        try await run("python3", ["-c", whole, path])
    }

    /// Runs a program that must succeed.
    @discardableResult
    static func run(_ name: String, _ arguments: [String], in folder: String? = nil) async throws -> String {
        try await onThread {
            guard let tool = Tool(name) else { throw ToolFailure("\(name) is missing") }
            let result = try tool.run(arguments, in: folder)
            guard result.status == 0 else { throw ToolFailure(result.errors + result.text) }
            return result.text
        }
    }
}
