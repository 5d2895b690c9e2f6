/// How much a program may cost, and how long it is waited for.
public struct CommandLimits: Sendable, Hashable {
    /// How many bytes of facts wait for it; with more it is detached. 8 MiB are about 40,000 facts.
    public var unreadBytes = 8 << 20
    /// With more bytes than this unread, progress is left out until it has caught up.
    public var unreadBytesWithProgress = 64 << 10
    /// How many lines of progress there are in a second for one install.
    public var progressPerSecond = 2.0
    /// How often it is started again when it ends.
    public var restarts = 1
    /// How long it may take to end after its input has: for its last word over a network.
    public var endPatience = Duration.seconds(8)
    /// How long it may take to end after SIGTERM, before SIGKILL.
    public var termPatience = Duration.seconds(1)
    /// How many lines of what it says are passed on; the rest is thrown away.
    public var spokenLines = 2_000
    /// How long such a line may be, in bytes; longer ones are cut.
    public var spokenLineLength = 1_000

    /// The usual ones.
    public init() {}
}
