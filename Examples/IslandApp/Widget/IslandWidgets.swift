import SwiftUI
import WidgetKit

/// The widget extension. An app that has widgets already adds `IslandWidget()` to its own bundle.
@main
struct IslandWidgets: WidgetBundle {
    var body: some Widget {
        IslandWidget()
    }
}
