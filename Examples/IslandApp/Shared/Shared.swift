import FerryLiveActivity

/// What the app and its widget share: this group must be among the capabilities of both targets.
enum Shared {
    /// The widget's sign of life, by which a stuck widget is found and replaced.
    ///
    /// In the store of the app group: the extension's own defaults are other ones than the app's, and what the widget
    /// writes there nobody hears. `nil` where the target lacks the capability; then no widget is ever taken for stuck.
    static let liveness = AppGroup("group.com.example.island").flatMap(AppGroupLiveness.init)
}
