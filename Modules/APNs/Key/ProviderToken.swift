/// What proves to APNs who we are: a JSON Web Token, signed with ES256 (RFC 7515, RFC 7518 §3.4).
///
/// ```
/// base64url({"alg":"ES256","kid":KEY}) . base64url({"iss":TEAM,"iat":SECONDS}) . base64url(r || s)
/// ```
/// Apple takes one for an hour, and no new one within 20 minutes.
public struct ProviderToken: Sendable, CustomStringConvertible, CustomReflectable {
    /// After how long a new one is made.
    public static let renewalAge: Duration = .seconds(45 * 60)
    /// How soon after one another new ones may be made.
    public static let shortestAge: Duration = .seconds(20 * 60)

    /// When it was made, in seconds since 1970: the claim `iat`.
    public let issuedAt: Int64
    /// The three parts with their dots; as good as a password for an hour.
    let text: String

    /// Makes and signs one; throws ``APNsError/Code/badKey``.
    public init(_ key: ProviderKey, issuedAt: Int64) throws(APNsError) {
        self.issuedAt = issuedAt
        let message = Self.message(key, issuedAt: issuedAt)
        text = message + "." + Base64URL.encode(try key.signature(of: Array(message.utf8)))
    }

    /// The token of that text, which was kept with the time when it was made before a colon; `nil` for what is none of
    /// `key`. The signature is not looked at.
    init?(_ kept: String, of key: ProviderKey) {
        let parts = kept.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let issuedAt = Int64(parts[0]),
            parts[1].hasPrefix(Self.message(key, issuedAt: issuedAt) + "."),
            parts[1].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        self.issuedAt = issuedAt
        text = String(parts[1])
    }

    private static func message(_ key: ProviderKey, issuedAt: Int64) -> String {
        // The ids were checked: nothing in them has to be escaped.
        let header = #"{"alg":"ES256","kid":"\#(key.keyID)"}"#
        let claims = #"{"iss":"\#(key.teamID)","iat":\#(issuedAt)}"#
        return Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
    }

    /// The three parts with their dots, for the one call that needs them.
    public var revealed: String { text }

    /// The time alone.
    public var description: String { "provider token of \(CalendarText.utc(issuedAt)) ‹hidden›" }

    /// A mirror without children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Whether it is good at that time: not older than ``renewalAge``, and not from the future, as after a clock was set back.
    func isFresh(at seconds: Int64) -> Bool {
        let (age, overflow) = seconds.subtractingReportingOverflow(issuedAt)
        return !overflow && age >= 0 && age < Self.renewalAge.components.seconds
    }
}
