#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What never changes in the life of one Live Activity.
///
/// All else is in ``IslandState``, as attributes cannot be updated. The type's name is the `attributes-type` of a push
/// that starts one: ``typeName``.
public struct IslandAttributes: Sendable, Hashable {
    /// What `attributes-type` says.
    public static let typeName = "IslandAttributes"
    /// How long ``id`` may be in bytes of UTF-8.
    public static let maximumIDBytes = 64

    /// Names this activity, so that the app knows which start it adopts.
    public let id: String
    /// When it was started, in whole seconds: its eight hours run from here. `nil` where nobody said.
    public let startedAt: Date?

    /// Attributes; a long id is cut, a date that is none is left out.
    public init(id: String, startedAt: Date? = nil) {
        self.id = id.oneLine.cut(toLetters: Self.maximumIDBytes, bytes: Self.maximumIDBytes)
        let seconds = startedAt?.timeIntervalSinceReferenceDate.rounded() ?? .nan
        let isDate = seconds >= 0 && seconds <= IslandState.latestSecond
        self.startedAt = isDate ? Date(timeIntervalSinceReferenceDate: seconds) : nil
    }
}

extension IslandAttributes: Codable {
    private enum Key: String, CodingKey {
        case id
        case startedAt
    }

    /// Reads attributes, as tolerantly as a state is read.
    public init(from decoder: any Decoder) throws {
        let fields = try Fields<Key>(decoder)
        self.init(
            id: try fields.text(.id) ?? "",
            startedAt: try fields.number(.startedAt).map { Date(timeIntervalSinceReferenceDate: $0) }
        )
    }

    /// Writes the date as seconds since 2001, whatever the encoder's strategy is.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(id, forKey: .id)
        try container.encodeIfPresent(startedAt.map { Int64($0.timeIntervalSinceReferenceDate) }, forKey: .startedAt)
    }
}
