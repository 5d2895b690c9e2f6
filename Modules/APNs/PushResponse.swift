/// What the service answered to a push.
public struct PushResponse: Sendable, Hashable {
    /// The HTTP status: 200 where the service took the push.
    public let status: Int
    /// Why not; `nil` for 200.
    public let reason: PushReason?
    /// `apns-id`, as it was sent.
    public let apnsID: String
    /// `apns-unique-id`, by which the sandbox's console finds the push; `nil` where none came.
    public let uniqueID: String?
    /// When the token stopped being valid, in milliseconds since 1970; only with 410.
    public let timestamp: Int64?
    /// How long the service asks to wait; `nil` where it says nothing.
    public let retryAfter: Duration?
    /// How often the push was sent, resends included.
    public let attempts: Int
    /// The environment that it was sent to.
    public let environment: APNsEndpoint.Environment
    /// The token that it was sent to, by its first digits, for messages.
    let tokenStart: String
    /// Our time when the answer came, in seconds since 1970, for what may be the clock's fault.
    let wallSeconds: Int64

    /// Whether the service took the push.
    public var isDelivered: Bool { status == 200 }
}
