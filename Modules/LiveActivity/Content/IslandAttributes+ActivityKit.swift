#if canImport(ActivityKit) && os(iOS) && !targetEnvironment(macCatalyst)
public import ActivityKit

extension IslandAttributes: ActivityAttributes {
    /// What changes.
    public typealias ContentState = IslandState
}
#endif
