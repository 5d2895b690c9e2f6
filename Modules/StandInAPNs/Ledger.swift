/// What a stand-in has seen.
package struct StandInLedger: Sendable {
    /// A push that was taken: answered with 200.
    package struct Delivery: Sendable {
        /// The device's token.
        package let token: String
        /// `apns-id`.
        package let id: String
        /// `apns-priority`.
        package let priority: String
        /// `apns-collapse-id`; empty for none.
        package let collapseID: String
        /// `apns-expiration`; empty for none.
        package let expiration: String
        /// The body.
        package let payload: [UInt8]
    }

    /// Connections whose handshake was done.
    package var connections = 0
    /// Connections that were accepted.
    package var accepted = 0
    /// Requests that were looked at.
    package var requests = 0
    /// Requests that were answered with 200.
    package var delivered = 0
    /// GOAWAYs sent.
    package var goaways = 0
    /// PINGs that came.
    package var pings = 0
    /// Different provider tokens.
    package var providerTokens = 0
    /// How often each reason was answered.
    package var reasons: [String: Int] = [:]
    /// Pushes taken, by the number of `apns-id`s: less than ``delivered`` where some came twice.
    package var ids: Set<String> = []
    /// Each push that was taken, where that is recorded.
    package var deliveries: [Delivery] = []
    /// The most streams that were open at once on a connection.
    package var mostStreams = 0

    /// Pushes that were taken more than once.
    package var duplicates: Int { delivered - ids.count }
}
