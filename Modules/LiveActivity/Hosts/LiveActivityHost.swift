/// What makes Live Activities: the device itself, a server that pushes, or a simulated phone.
///
/// ``LiveActivityKeeper`` calls it, one call at a time, and reads its events. A call may take as long as a push takes; it
/// comes back with an answer and never throws for a push that failed: then the answer says so.
public protocol LiveActivityHost: Sendable {
    /// What it can do; never changes.
    var abilities: HostAbilities { get }
    /// What happens at its end: activities come, go, get tokens; the app comes to the front. For one reader. Ends when
    /// the host goes.
    var events: AsyncStream<LifeInput> { get }

    /// What is known at launch, in the order in which it is to be heard. The last one is
    /// ``LifeInput/launched(found:)``.
    func launch() async -> [LifeInput]

    /// Asks the system for an activity; only a host that ``HostAbilities/requests`` is asked.
    func request(_ start: IslandStart) async throws(HostRefusal) -> FoundIsland

    /// Pushes a start; only a host that ``HostAbilities/pushesStarts`` is asked.
    func pushStart(_ start: IslandStart, to token: PushToken) async -> PushAnswer

    /// Shows the present state in an activity.
    func update(_ update: IslandUpdate) async -> PushAnswer

    /// Ends an activity with the present state.
    func end(_ end: IslandEnd) async -> PushAnswer

    /// Tells the user that a tap is needed, or takes that back. A host that cannot does nothing.
    func notifyTapToUpdate(_ isNeeded: Bool) async
}

extension LiveActivityHost {
    /// No host that cannot request is asked to.
    public func request(_ start: IslandStart) async throws(HostRefusal) -> FoundIsland {
        throw HostRefusal("this host cannot request activities")
    }

    /// No host that cannot push is asked to.
    public func pushStart(_ start: IslandStart, to token: PushToken) async -> PushAnswer { .none }

    /// By default nobody is told.
    public func notifyTapToUpdate(_ isNeeded: Bool) async {}
}

/// Why the system gave no activity.
public struct HostRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason, in the system's words where it has some.
    public let description: String

    /// A reason.
    public init(_ description: String) {
        self.description = description
    }
}
