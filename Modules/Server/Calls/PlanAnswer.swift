import FerryActivity
import FerryPropertyList
import FerrySigning

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What signing would change, as the control API tells it: all changes in one list.
enum PlanAnswer {
    /// Nothing is signed, so nothing changes.
    static let unsigned = #"{"changes":[],"warnings":[],"refusals":[]}"#

    static func json(_ preview: SigningPreview, path: String, name: String) throws -> String {
        var object = JSONObject()
        if let app = preview.bundles.first {
            var part = JSONObject()
            part.add("name", app.path.split(separator: "/").last.map(String.init))
            part.add("identifier", app.identifier ?? app.oldIdentifier)
            object.add("app", part)
        }
        object.add("changes", try changes(preview))
        let warnings = preview.warnings + preview.bundles.flatMap(\.warnings)
        object.add("warnings", warnings.map { $0.replacing(path, with: name) })
        object.add("refusals", [JSONObject]())
        return object.json
    }

    static func refused(_ error: SignError, path: String, name: String) -> String {
        var object = JSONObject()
        object.add("changes", [JSONObject]())
        object.add("warnings", [String]())
        object.add(
            "refusals",
            error.reasons.map { reason in
                var object = JSONObject()
                // What the sender calls it, not where it lies here.
                object.add("message", reason.message.replacing(path, with: name))
                object.add("remedy", reason.remedy?.replacing(path, with: name))
                return object
            }
        )
        return object.json
    }

    private static func changes(_ preview: SigningPreview) throws -> [JSONObject] {
        var changes: [JSONObject] = []
        func add(_ path: String, _ what: String, _ old: String? = nil, _ new: String? = nil) {
            var object = JSONObject()
            object.add("path", path)
            object.add("what", what)
            object.add("from", old)
            object.add("to", new)
            changes.append(object)
        }
        for bundle in preview.bundles {
            if bundle.isDropped { add(bundle.path, "left out") }
            guard !bundle.isDropped else { continue }
            if bundle.isNew { add(bundle.path, "new") }
            if let identifier = bundle.identifier, identifier != bundle.oldIdentifier {
                add(bundle.path, "id", bundle.oldIdentifier, identifier)
            }
            if let profile = bundle.profile { add(bundle.path, "profile", nil, profile) }
            for change in bundle.infoPlist where change.key != "CFBundleIdentifier" {
                add(bundle.path, change.key, try change.old.map(text), try change.new.map(text))
            }
            for (key, reason) in bundle.droppedEntitlements.sorted(by: { $0.key < $1.key }) {
                add(bundle.path, "without " + key, nil, reason)
            }
        }
        for file in preview.addedFiles { add(file, "added") }
        for file in preview.changedFiles { add(file, "changed") }
        for file in preview.removedFiles { add(file, "removed") }
        for file in preview.changedCode { add(file, "load commands") }
        return changes
    }

    /// Text as it is, anything else as JSON.
    private static func text(_ value: PropertyList) throws -> String {
        if let text = value.string { return text }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
