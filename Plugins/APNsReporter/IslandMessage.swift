public import FerryLiveActivity

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a phone has to say to the server that drives its island.
///
/// It comes by the app, through a control API or by hand, and may come while no process drives the island.
public enum IslandMessage: Sendable, Hashable {
    /// The token for starts.
    case pushToStartToken(PushToken)
    /// An activity's token; it also says that the activity is there.
    case updateToken(IslandID, PushToken)
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
        case .updateToken(let id, let token): .updateToken(id, token)
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
    }

    private var form: Form {
        switch self {
        case .pushToStartToken(let token): Form(kind: .pushToStartToken, token: token)
        case .updateToken(let id, let token): Form(kind: .updateToken, island: id, token: token)
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
        case (.updateToken, let id?, let token?): self = .updateToken(id, token)
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
        // Texts, whole numbers and a flag: nothing of it can fail.
        (try? JSONEncoder().encode(form)).map { [UInt8]($0) } ?? []
    }
}
