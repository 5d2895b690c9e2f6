import FerryBytes
import FerryHTTP

/// Lets requests in: those that mean this server, come with a token of the right role, and not too often.
final class Gate: Sendable {
    private struct Limits: Sendable {
        var calls: RateLimit
        var failures: RateLimit
    }

    private let keeper: TokenKeeper
    private let hosts: HostNames
    private let limits: Guarded<Limits>
    private let seconds: @Sendable () -> Double

    /// - Parameter hosts: the names, without a port, by which this server may be asked.
    init(
        _ keeper: TokenKeeper,
        hosts: Set<String>,
        limits: ControlLimits,
        seconds: @escaping @Sendable () -> Double
    ) {
        self.keeper = keeper
        self.hosts = HostNames(hosts)
        self.seconds = seconds
        self.limits = Guarded(
            Limits(
                calls: RateLimit(burst: limits.callBurst, perSecond: limits.callsPerSecond),
                failures: RateLimit(burst: limits.failureBurst, perSecond: limits.failuresPerSecond)
            )
        )
    }

    /// Why a request is not for this server at all; `nil` for one that is.
    func misdirection(_ request: Request) -> Problem? {
        hosts.misdirection(request).map { reason in
            Problem(
                421,
                reason,
                remedy: "Use an address that ferry serve prints, or start it with --public-url or --host."
            )
        }
    }

    /// Why a page of somebody else's may not have its browser change anything here; `nil` for every other request.
    ///
    /// Such a page has no token, and browsers let it send none without asking; this is the second lock on that door.
    /// Programs send neither field.
    func trespass(_ request: Request) -> Problem? {
        guard !["GET", "HEAD"].contains(request.method) else { return nil }
        let sites = request.headers.all("Sec-Fetch-Site")
        let origins = request.headers.all("Origin")
        let isOurs =
            sites.allSatisfy { ["same-origin", "none"].contains($0.lowercased()) }
            && origins.allSatisfy(hosts.isOwn)
        if isOurs { return nil }
        return Problem(
            403,
            "A page of another site asked for this.",
            remedy: "Ask from the dashboard of this server, or from a program."
        )
    }

    /// The role of who asks, if it is enough; throws a ``Problem``.
    ///
    /// Who has a token gets in whatever others at the same address do: behind a proxy all of them have its address.
    func role(of request: Request, for need: Need) throws(Problem) -> Role {
        let now = seconds()
        guard let token = Self.token(request) else {
            throw Problem(
                401,
                "The request has no token.",
                remedy: "Send “Authorization: Bearer TOKEN”; ferry serve prints a token, ferry token add makes one.",
                headers: ["WWW-Authenticate": "Bearer realm=\"ferry\""]
            )
        }
        guard let role = keeper.role(of: token) else {
            let place = request.remoteAddress
            if let wait = limits.withLock({ $0.failures.take(place, at: now) }) {
                throw .tooOften(wait, "There were too many wrong tokens from \(place).")
            }
            throw Problem(
                401,
                "The token is not known here, or no longer.",
                remedy:
                    "Use the one that ferry serve printed when it was started last, or make one with ferry token add.",
                headers: ["WWW-Authenticate": "Bearer realm=\"ferry\", error=\"invalid_token\""]
            )
        }
        if let wait = limits.withLock({ $0.calls.take(token, at: now) }) {
            throw .tooOften(wait, "There are too many calls with this token.")
        }
        guard role.may(need) else {
            throw Problem(
                403,
                "A token with the role \(role.rawValue) may not do this.",
                remedy: "Use one with the role \(need.words)."
            )
        }
        return role
    }

    /// Whether the token of a request that was let in is still good for `need`; takes nothing of any limit.
    func isStillGood(_ request: Request, for need: Need) -> Bool {
        guard let token = Self.token(request), let role = keeper.role(of: token) else { return false }
        return role.may(need)
    }

    private static func token(_ request: Request) -> String? {
        let fields = request.headers.all("Authorization")
        guard fields.count == 1 else { return nil }
        let parts = fields[0].split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, String(parts[0]).isSameToken(as: "Bearer"), parts[1].utf8.count <= 512 else {
            return nil
        }
        return String(parts[1])
    }
}
