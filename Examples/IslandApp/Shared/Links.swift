import Foundation

/// Where a tap goes.
enum Links {
    /// The URL scheme of the app, as its Info.plist declares it.
    static let scheme = "ferry"
    /// The list of installs.
    static let installs = URL(string: "ferry://installs")

    /// Whether a URL leads to the list of installs.
    static func leadsToInstalls(_ url: URL) -> Bool { url.scheme == scheme && url.host() == "installs" }
}
