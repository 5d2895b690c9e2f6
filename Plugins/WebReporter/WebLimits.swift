/// How much is kept for viewers, and how often they are told.
public struct WebLimits: Sendable, Hashable {
    /// How many facts are kept; a viewer that is further behind is closed, and begins anew with the state.
    public var facts = 10_000
    /// How many bytes these may have together.
    public var factBytes = 16 << 20
    /// How many viewers there may be.
    public var viewers = 2_000
    /// The least time between two calls to the viewers: what happens in it comes to them in one piece.
    public var callPause = Duration.milliseconds(50)
    /// The least time between two events of progress.
    public var progressPause = Duration.milliseconds(250)
    /// How long a viewer hears nothing at the most: then it gets a comment.
    public var longestSilence = Duration.seconds(15)
    /// How many bytes a viewer that catches up is given at once.
    public var pieceBytes = 32 << 10

    /// The usual ones.
    public init() {}
}
