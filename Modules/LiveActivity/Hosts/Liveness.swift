#if canImport(Darwin)
import Foundation
#endif

/// The name of an app group: what an app and its widget extension share.
///
/// The widget's sign of life goes through it. A widget that writes into its own standard defaults is never heard: app and
/// extension have different ones. So a ``LivenessStore`` for a device is made from an app group and nothing else.
public struct AppGroup: Sendable, Hashable, CustomStringConvertible {
    /// The identifier, which begins with `group.`.
    public let identifier: String

    /// An app group; `nil` for what is none, such as a bundle identifier.
    public init?(_ identifier: String) {
        let prefix = "group."
        guard identifier.utf8.starts(with: prefix.utf8), identifier.utf8.count > prefix.utf8.count,
            identifier.utf8.count <= 255
        else { return nil }
        self.identifier = identifier
    }

    /// The identifier.
    public var description: String { identifier }
}

/// Where a widget leaves the number of the last state that it drew, for the app to find.
public protocol LivenessStore: Sendable {
    /// The widget drew the state of that number.
    func drew(seq: Int)
    /// The last number that was drawn; `nil` before the first.
    var drawnSeq: Int? { get }
}

#if canImport(Darwin)
/// The store of an app group, for the app and its widget.
public struct AppGroupLiveness: LivenessStore {
    private static let key = "ferry.island.drawnSeq"

    private let group: AppGroup

    /// The store of that group. `nil` where the process is not entitled to it, or has none of its own.
    public init?(_ group: AppGroup) {
        guard FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group.identifier) != nil,
            UserDefaults(suiteName: group.identifier) != nil
        else { return nil }
        self.group = group
    }

    /// Called by the widget's view when it is drawn.
    public func drew(seq: Int) {
        UserDefaults(suiteName: group.identifier)?.set(seq, forKey: Self.key)
    }

    /// Read by the app.
    public var drawnSeq: Int? {
        UserDefaults(suiteName: group.identifier)?.object(forKey: Self.key) as? Int
    }
}
#endif
