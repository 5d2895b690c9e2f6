package import FerryActivity
import FerryLiveActivity

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Activity {
    /// What a phone's island would show: the very content state that it would get, and its words in every form.
    ///
    /// - Parameter seq: The number of the state.
    package func webIsland(seq: Int) -> JSONObject {
        let icon = installs.count == 1 ? installs.first?.icon : nil
        let whole = IslandState(self, seq: seq, icon: icon)
        let state = (try? whole.fitted())?.state ?? whole
        let shown = IslandPresentation(state)
        var object = JSONObject()
        object.add("contentState", json: (try? state.encoded()).map { String(decoding: $0, as: UTF8.self) })
        object.add("label", shown.label)
        object.add("compactLeading", shown.compactLeading)
        object.add("compactTrailing", shown.compactTrailing)
        object.add("minimal", shown.minimal)
        object.add("expanded", shown.expanded.webObject)
        object.add("lockScreen", shown.lockScreen.webObject)
        object.add("accessibilityText", shown.accessibilityText)
        return object
    }
}

extension IslandPresentation.Expanded {
    fileprivate var webObject: JSONObject {
        var object = JSONObject()
        object.add("title", title)
        object.add("subtitle", subtitle)
        object.add("detail", detail)
        object.add(
            "rows",
            rows.map { row in
                var object = JSONObject()
                object.add("title", row.title)
                object.add("label", row.label)
                object.add("fraction", fraction: row.fraction)
                return object
            }
        )
        object.add("footer", footer)
        object.add("fraction", fraction: fraction)
        object.add("countdown", countdown?.isoText)
        return object
    }
}

extension IslandPresentation.LockScreen {
    fileprivate var webObject: JSONObject {
        var object = JSONObject()
        object.add("title", title)
        object.add("status", status)
        object.add("detail", detail)
        object.add("fraction", fraction: fraction)
        object.add("countdown", countdown?.isoText)
        return object
    }
}
