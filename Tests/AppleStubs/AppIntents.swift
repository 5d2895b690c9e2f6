// swift-format-ignore-file
//
// A stub of the little of Apple's AppIntents that Examples/IslandApp uses; see ActivityKit.swift for what a stub is.

public import AppleFoundation
public import SwiftUI

public protocol IntentResult: Sendable {}
public struct IntentResultContainer: IntentResult {}
extension IntentResult where Self == IntentResultContainer {
    public static func result() -> Self { fatalError() }
}

public protocol AppIntent: Sendable {
    associatedtype PerformResult: IntentResult
    static var title: LocalizedStringResource { get }
    static var isDiscoverable: Bool { get }
    init()
    func perform() async throws -> PerformResult
}
extension AppIntent {
    public static var isDiscoverable: Bool { true }
}

public final class AppDependencyManager {
    nonisolated(unsafe) public static let shared = AppDependencyManager()
    public func add<Dependency: Sendable>(key: AnyHashable? = nil, dependency dependencyProvider: @autoclosure @escaping @Sendable () -> Dependency) {}
}

@propertyWrapper public final class AppDependency<Value: Sendable>: @unchecked Sendable {
    public init(key: AnyHashable? = nil, manager: AppDependencyManager = .shared) {}
    public var wrappedValue: Value { fatalError() }
}
extension AppIntent {
    public typealias Dependency = AppDependency
}

public protocol SystemIntent: AppIntent {}
public protocol LiveActivityIntent: SystemIntent {}

/// Of the overlay that importing both modules brings.
extension Button {
    public init<I: AppIntent>(intent: I, @ViewBuilder label: () -> Label) { fatalError() }
}
