// swift-format-ignore-file
//
// A stub of Apple's ActivityKit, so that code which imports it can be type-checked where there is no SDK: on Linux.
//
// It declares just the API that we use, and the overloads that a call of ours could mean, with the signatures, defaults and
// conformances of Apple's documentation (developer.apple.com/documentation/activitykit). Nothing behaves: whatever runs,
// traps. What is not Sendable there is not Sendable here, and it is built in Swift 5 mode as Apple's module is.
// Scripts/check-apple builds it; no product contains it.

public import Foundation

public protocol ActivityAttributes: Decodable, Encodable {
    associatedtype ContentState: Decodable, Encodable, Hashable
}

public class Activity<Attributes>: Identifiable where Attributes: ActivityAttributes {
    public typealias ContentState = Attributes.ContentState

    public static func request(
        attributes: Attributes,
        content: ActivityContent<Activity<Attributes>.ContentState>,
        pushType: PushType? = nil
    ) throws -> Activity<Attributes> { fatalError() }

    public static var activities: [Activity<Attributes>] { fatalError() }
    public static var activityUpdates: ActivityUpdates { fatalError() }
    public static var pushToStartTokenUpdates: PushTokenUpdates { fatalError() }
    public static var pushToStartToken: Data? { fatalError() }

    public final let id: String
    public final let attributes: Attributes
    public var activityState: ActivityState { fatalError() }
    public var activityStateUpdates: ActivityStateUpdates { fatalError() }
    public var content: ActivityContent<Activity<Attributes>.ContentState> { fatalError() }
    public var pushToken: Data? { fatalError() }
    public var pushTokenUpdates: PushTokenUpdates { fatalError() }

    public func update(_ content: ActivityContent<Activity<Attributes>.ContentState>) async { fatalError() }
    public func update(
        _ content: ActivityContent<Activity<Attributes>.ContentState>,
        alertConfiguration: AlertConfiguration? = nil
    ) async { fatalError() }
    public func update(
        _ content: ActivityContent<Activity<Attributes>.ContentState>,
        alertConfiguration: AlertConfiguration? = nil,
        timestamp: Date
    ) async { fatalError() }

    public func end(
        _ content: ActivityContent<Activity<Attributes>.ContentState>?,
        dismissalPolicy: ActivityUIDismissalPolicy = .default
    ) async { fatalError() }
    public func end(
        _ content: ActivityContent<Activity<Attributes>.ContentState>?,
        dismissalPolicy: ActivityUIDismissalPolicy = .default,
        timestamp: Date
    ) async { fatalError() }

    init() { fatalError() }
}

extension Activity {
    public struct ActivityUpdates: AsyncSequence {
        public typealias Element = Activity<Attributes>
        public struct Iterator: AsyncIteratorProtocol {
            public func next() async -> Activity<Attributes>? { fatalError() }
        }
        public func makeAsyncIterator() -> Iterator { fatalError() }
    }

    public struct ActivityStateUpdates: AsyncSequence {
        public typealias Element = ActivityState
        public struct Iterator: AsyncIteratorProtocol, Sendable {
            public func next() async -> ActivityState? { fatalError() }
        }
        public func makeAsyncIterator() -> Iterator { fatalError() }
    }

    public struct PushTokenUpdates: AsyncSequence {
        public typealias Element = Data
        public struct Iterator: AsyncIteratorProtocol {
            public func next() async -> Data? { fatalError() }
        }
        public func makeAsyncIterator() -> Iterator { fatalError() }
    }
}

public struct ActivityContent<State> where State: Decodable, State: Encodable, State: Hashable {
    public let state: State
    public let staleDate: Date?
    public let relevanceScore: Double
    public init(state: State, staleDate: Date?, relevanceScore: Double = 0.0) { fatalError() }
}

extension ActivityContent: Sendable where State: Sendable {}

// Not frozen there: a switch needs `@unknown default`, which is why Scripts/check-apple builds this for evolution.
public enum ActivityState: Sendable, Codable, Hashable {
    case pending
    case active
    case ended
    case dismissed
    case stale
}

public struct ActivityUIDismissalPolicy: Equatable, Sendable {
    public static let `default` = ActivityUIDismissalPolicy()
    public static let immediate = ActivityUIDismissalPolicy()
    public static func after(_ date: Date) -> ActivityUIDismissalPolicy { fatalError() }
}

public struct PushType: Equatable {
    public static var token: PushType { fatalError() }
}

public struct AlertConfiguration: Equatable, Sendable {}

public final class ActivityAuthorizationInfo {
    public struct ActivityEnablementUpdates: AsyncSequence {
        public typealias Element = Bool
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async -> Bool? { fatalError() }
        }
        public func makeAsyncIterator() -> Iterator { fatalError() }
    }

    public init() {}
    public var areActivitiesEnabled: Bool { fatalError() }
    public var activityEnablementUpdates: ActivityEnablementUpdates { fatalError() }
}
