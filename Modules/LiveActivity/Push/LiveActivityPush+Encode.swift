extension LiveActivityPush {
    /// A body that may be sent.
    public struct Encoded: Sendable, Hashable {
        /// The JSON: compact, keys in order, slashes as they are.
        public let body: [UInt8]
        /// The state that is in it.
        public let state: IslandState
        /// What the wished state had and this one has not.
        public let shed: Shedding
    }

    /// The body, at most `limit` bytes long.
    ///
    /// The real body is measured, and sheds the icon, then the installs after the first, the last ones first, then as
    /// much of the first one's name as must be, then that install. With a limit of 2,560 or more it always fits.
    public func encode(limit: Int = sizeLimit) throws(IslandStateError) -> Encoded {
        var bodies: (state: IslandState, body: [UInt8])?
        let (state, shed) = try self.state.fitted(within: limit) { state throws(IslandStateError) in
            let body = try CompactJSON.encode(Body(push: self, state: state))
            bodies = (state, body)
            return body.count
        }
        if let last = bodies, last.state == state { return Encoded(body: last.body, state: state, shed: shed) }
        return Encoded(body: try CompactJSON.encode(Body(push: self, state: state)), state: state, shed: shed)
    }
}

/// The body of a push: all of it under `aps`.
private struct Body: Encodable {
    let push: LiveActivityPush
    let state: IslandState

    enum Key: String, CodingKey {
        case aps
    }

    enum Field: String, CodingKey {
        case timestamp
        case event
        case state = "content-state"
        case staleDate = "stale-date"
        case dismissalDate = "dismissal-date"
        case relevance = "relevance-score"
        case alert
        case interruption = "interruption-level"
        case attributesType = "attributes-type"
        case attributes
        case token = "input-push-token"
    }

    enum AlertField: String, CodingKey {
        case title
        case body
    }

    func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: Key.self)
        var aps = outer.nestedContainer(keyedBy: Field.self, forKey: .aps)
        try aps.encode(push.timestamp, forKey: .timestamp)
        try aps.encode(push.event.rawValue, forKey: .event)
        try aps.encode(state, forKey: .state)
        try aps.encodeIfPresent(push.staleAt, forKey: .staleDate)
        try aps.encodeIfPresent(push.dismissAt, forKey: .dismissalDate)
        try aps.encodeIfPresent(push.relevance, forKey: .relevance)
        if let alert = push.alert {
            var fields = aps.nestedContainer(keyedBy: AlertField.self, forKey: .alert)
            try fields.encode(alert.title, forKey: .title)
            try fields.encode(alert.body, forKey: .body)
            if alert.isPassive { try aps.encode("passive", forKey: .interruption) }
        }
        if let attributes = push.attributes {
            try aps.encode(IslandAttributes.typeName, forKey: .attributesType)
            try aps.encode(attributes, forKey: .attributes)
        }
        if push.wantsToken { try aps.encode(1, forKey: .token) }
    }
}
