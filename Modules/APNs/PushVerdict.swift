/// What an answer means, and what is to be done.
public enum PushVerdict: Sendable, Hashable {
    /// The service took the push.
    case delivered
    /// The token is not valid any more: never use it again.
    case forgetToken
    /// The token is none of this environment or topic: never send the same again, ask the app for a token.
    case badToken
    /// Wait that long before the next push to this token.
    case backOff(Duration)
    /// The provider key, its ids or the clock of this machine are wrong: stop and tell a person.
    case fixKey
    /// The payload is too large: never send the same again.
    case tooLarge
    /// A header or path of ours is wrong: never send the same again.
    case bug
}

extension PushResponse {
    /// How long to wait where the service does not say.
    static let usualBackOff: Duration = .seconds(60)

    /// What the answer means for the caller.
    public var verdict: PushVerdict {
        switch (status, reason?.code) {
        case (200, _): .delivered
        case (410, _), (404, .unregistered), (404, .expiredToken): .forgetToken
        case (_, .badDeviceToken), (_, .deviceTokenNotForTopic), (_, .missingDeviceToken): .badToken
        case (413, _), (_, .payloadTooLarge): .tooLarge
        case (403, _), (401, _), (_, .topicDisallowed): .fixKey
        case (429, _), (500..., _), (_, .idleTimeout): .backOff(retryAfter ?? Self.usualBackOff)
        default: .bug
        }
    }

    /// What happened and what to do, in words for people.
    public var explanation: String {
        let what = "APNs answered \(status) (\(reason?.description ?? "no reason")) to the push \(apnsID)"
        let token = "the token \(tokenStart)…"
        switch verdict {
        case .delivered: return "APNs took the push \(apnsID)."
        case .forgetToken: return "\(what): \(token) is not valid any more. It must be forgotten."
        case .badToken where reason?.code == .deviceTokenNotForTopic:
            return "\(what): \(token) is another app's. Check that the topic has the bundle id of the app that sent it."
        case .badToken where environment == .custom:
            return "\(what): the server does not know \(token) It may be one of another environment."
        case .badToken:
            let other = environment == .production ? "sandbox" : "production"
            return "\(what): \(token) is none of the \(environment.rawValue) environment. "
                + "It may be one of \(other): apps with a development profile have sandbox tokens, all others production ones."
        case .backOff(let wait):
            return "\(what). It can be tried again in \(wait.components.seconds) s."
        case .fixKey: return "\(what). \(keyAdvice)"
        case .tooLarge: return "\(what): leave out the icon, then items, then names."
        case .bug: return "\(what). The same push must not be sent again; please report this."
        }
    }

    private var keyAdvice: String {
        let clock = "This machine's clock says \(CalendarText.utc(wallSeconds))"
        switch reason?.code {
        case .expiredProviderToken:
            return "\(clock), which is old for Apple: set this machine's clock."
        case .invalidProviderToken:
            return "Check the key id, the team id and that the key is not revoked. \(clock): "
                + "if that is in the future for Apple, set this machine's clock."
        case .badEnvironmentKeyIDInToken:
            return "The key is not for the \(environment.rawValue) environment: make one for it, or for both."
        case .unrelatedKeyIDInToken:
            return "The key is another one than the first on this connection: use one key a client."
        case .topicDisallowed:
            return "The key's team or topics do not include this app."
        default: return "Check the provider key, its id and the team id."
        }
    }
}
