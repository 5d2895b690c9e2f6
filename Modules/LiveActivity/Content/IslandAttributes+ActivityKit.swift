#if canImport(ActivityKit) && os(iOS)
public import ActivityKit

extension IslandAttributes: ActivityAttributes {
    /// What changes.
    public typealias ContentState = IslandState
}
#endif
