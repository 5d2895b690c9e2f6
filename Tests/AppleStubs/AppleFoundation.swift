// swift-format-ignore-file
//
// What Foundation has on Apple's systems and not on Linux, as far as we use it; see ActivityKit.swift for what a stub is.
// Scripts/check-apple imports it into every file, as there it comes with Foundation.

public import Foundation
@_exported import FoundationNetworking

public struct LocalizedStringResource: Equatable, Sendable, ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { fatalError() }
}

extension FileManager {
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? { fatalError() }
}

extension URL {
    public static var applicationSupportDirectory: URL { fatalError() }
}
