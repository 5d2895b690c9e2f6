package import FerryActivity

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Install {
    /// The install as an object of the control API (docs/api.md): what is unknown is left out.
    package var webObject: JSONObject {
        var object = JSONObject()
        object.add("id", id.rawValue)
        object.add("title", title)
        object.add("bundleID", bundleID)
        object.add("version", version)
        object.add("stage", stage.rawValue)
        object.add("held", isHeld)
        addProgress(to: &object)
        if let outcome { object.add(outcome) }
        if !notes.isEmpty { object.add("notes", notes) }
        object.add("addedAt", addedAt.isoText)
        object.add("finishedAt", finishedAt?.isoText)
        object.add("hasIcon", icon != nil)
        return object
    }

    /// What moves of it, for progress alone.
    package var webProgress: JSONObject {
        var object = JSONObject()
        object.add("id", id.rawValue)
        object.add("stage", stage.rawValue)
        addProgress(to: &object)
        return object
    }

    private func addProgress(to object: inout JSONObject) {
        object.add("step", step)
        object.add("fraction", fraction: fraction)
        if let progress {
            var part = JSONObject()
            part.add("unit", progress.unit.rawValue)
            part.add("completed", progress.completed)
            part.add("total", progress.total)
            object.add("progress", part)
        }
        object.add("bytesPerSecond", bytesPerSecond.flatMap { Int64(exactly: $0.rounded()) })
        object.add("finishAt", finishAt?.isoText)
        object.add("label", label)
    }
}
