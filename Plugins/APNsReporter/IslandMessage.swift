public import FerryLiveActivity

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a phone has to say to the server that drives its island.
///
/// It comes by the app, through a control API or by hand, and may come while no process drives the island.
public enum IslandMessage: Sendable, Hashable {
    /// The token for starts.
    case pushToStartToken(PushToken)
    /// An activity's token; it also says that the activity is there, when it was started (the attributes say it) and the
    /// number of the state that it has, where these are known.
    case updateToken(IslandID, PushToken, startedAt: Date? = nil, seq: Int? = nil)
    /// The widget drew the state of that number.
    case widgetSaw(Int)
    /// An activity left the screen.
    case dismissed(IslandID)
    /// An activity ended and may still be on the lock screen.
    case ended(IslandID)
    /// Activities are allowed in Settings, or are not.
    case allowed(Bool)

    /// What the life of the activity hears.
    public var input: LifeInput {
        switch self {
        case .pushToStartToken(let token): .pushToStartToken(token)
        case .updateToken(let id, let token, let startedAt, let seq):
            .adopted(FoundIsland(id: id, token: token, startedAt: startedAt, seq: seq))
        case .widgetSaw(let seq): .widgetSaw(seq: seq)
        case .dismissed(let id): .dismissed(id)
        case .ended(let id): .ended(id)
        case .allowed(let isAllowed): .availability(isAllowed ? .on : .offInSettings)
        }
    }

    private enum Kind: String, Codable {
        case pushToStartToken, updateToken, widgetSaw, dismissed, ended, allowed
    }

    private struct Form: Codable {
        var kind: Kind
        var island: IslandID?
        var token: PushToken?
        var seq: Int?
        var isAllowed: Bool?
        /// Seconds since 1970.
        var startedAt: Double?
    }

    private var form: Form {
        switch self {
        case .pushToStartToken(let token): Form(kind: .pushToStartToken, token: token)
        case .updateToken(let id, let token, let startedAt, let seq):
            Form(kind: .updateToken, island: id, token: token, seq: seq, startedAt: startedAt?.timeIntervalSince1970)
        case .widgetSaw(let seq): Form(kind: .widgetSaw, seq: seq)
        case .dismissed(let id): Form(kind: .dismissed, island: id)
        case .ended(let id): Form(kind: .ended, island: id)
        case .allowed(let isAllowed): Form(kind: .allowed, isAllowed: isAllowed)
        }
    }

    /// Reads a message; `nil` for what is none.
    public init?(json: [UInt8]) {
        guard let form = try? JSONDecoder().decode(Form.self, from: Data(json)) else { return nil }
        switch (form.kind, form.island, form.token) {
        case (.pushToStartToken, _, let token?): self = .pushToStartToken(token)
        case (.updateToken, let id?, let token?):
            let startedAt = form.startedAt.map(Date.init(timeIntervalSince1970:))
            self = .updateToken(id, token, startedAt: startedAt, seq: form.seq.flatMap { $0 > 0 ? $0 : nil })
        case (.dismissed, let id?, _): self = .dismissed(id)
        case (.ended, let id?, _): self = .ended(id)
        case (.widgetSaw, _, _):
            guard let seq = form.seq, seq > 0 else { return nil }
            self = .widgetSaw(seq)
        case (.allowed, _, _):
            guard let isAllowed = form.isAllowed else { return nil }
            self = .allowed(isAllowed)
        default: return nil
        }
    }

    /// The message as a JSON object.
    public func json() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "",
            negativeInfinity: "",
            nan: ""
        )
        guard let data = try? encoder.encode(form) else {
            preconditionFailure("texts, numbers and a flag can always be written as JSON")
        }
        return [UInt8](data)
    }
}
