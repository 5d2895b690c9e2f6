#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The numbers that the life of an activity keeps to, in seconds, each with where it comes from.
public struct LifeRules: Sendable, Hashable {
    /// How long the system keeps an activity active. Apple, *Displaying live data with Live Activities*: eight hours.
    public var activeLimit: TimeInterval = 8 * 3_600
    /// How long an ended activity may stay on the lock screen. The same page: four hours.
    public var lockScreenLimit: TimeInterval = 4 * 3_600
    /// At which age an activity is renewed: half an hour before the system ends it.
    public var renewAfter: TimeInterval = 7.5 * 3_600
    /// How long before ``renewAfter`` it is renewed already if the app is in front, where that costs nothing.
    public var renewalWarning: TimeInterval = 30 * 60
    /// How long no start is pushed after one that was answered 200, and after other failures. LoopFollow: five minutes.
    public var baseBackOff: TimeInterval = 300
    /// What doubling ends at. LoopFollow: an hour.
    public var longestBackOff: TimeInterval = 3_600
    /// How long no update is pushed after one that got no answer, or found the service busy; doubles up to
    /// ``baseBackOff``. What it had to say is not lost: the next one says it.
    public var updateBackOff: TimeInterval = 5
    /// How far ahead a server's `Retry-After` is believed; longer ones are cut, as nobody waits that long.
    public var longestRetryAfter: TimeInterval = 24 * 3_600
    /// How many starts nobody has to have adopted until everything is begun anew in the foreground, and pushed only
    /// every ``longestBackOff`` in the background. The system grants about ten pushed starts, then is silent.
    public var unadoptedStartsLimit = 4
    /// How many unadopted starts may have been silent; the next ones ring, as a silent start is public experience only.
    public var silentStarts = 2
    /// How long a widget may be behind without a render until it counts as stuck.
    public var stuckAfter: TimeInterval = 15 * 60
    /// How often in a row a stuck widget is restarted without a sign of life from the new one.
    public var stuckRestarts = 2
    /// How long an answer to a pushed start is waited for. APNs answers in a second or the connection is dead.
    public var answerPatience: TimeInterval = 120
    /// How long, with the app in front, a start that was pushed is waited for before the app requests one itself.
    public var adoptionPatience: TimeInterval = 60
    /// How long an answer of `Activity.request` is waited for, and how long after a refusal it is tried again.
    public var requestPatience: TimeInterval = 30
    /// How long `willEnterForeground`, or the launch of an app, keeps pushes back: `didBecomeActive` follows within
    /// seconds or never, and a launch in the background has about thirty.
    public var latchLimit: TimeInterval = 10
    /// How long the last state stays on the lock screen after the last install.
    public var lingering: TimeInterval = 5 * 60
    /// How shortly before being switched off in Settings a dismissal still belongs to that.
    public var switchingRace: TimeInterval = 10
    /// Whether pushed renewals are silent.
    public var renewsSilently = true
    /// Mistakes to make, so that tests see that they are found.
    package var flaws: Flaws = []

    /// The numbers as they are documented.
    public init() {}

    /// Mistakes that others made: each breaks one rule, and is never set outside tests.
    package struct Flaws: OptionSet, Sendable, Hashable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// Ends the old activity when a start is answered 200, not when the new one is adopted (LoopFollow).
        package static let endsOldOnAnswer = Flaws(rawValue: 1 << 0)
        /// Forgets over a relaunch that the user swiped (LoopFollow).
        package static let forgetsDismissal = Flaws(rawValue: 1 << 1)
        /// Forgets the back-off over a relaunch.
        package static let forgetsBackOff = Flaws(rawValue: 1 << 2)
        /// Counts the age of an activity from each relaunch.
        package static let forgetsDeadline = Flaws(rawValue: 1 << 3)
        /// Pushes another start although one is under way.
        package static let stacksStarts = Flaws(rawValue: 1 << 4)
        /// Requests at `willEnterForeground`, when the system refuses.
        package static let requestsTooEarly = Flaws(rawValue: 1 << 5)
        /// Takes the dismissal of an activity that we ended for a swipe.
        package static let mistakesOwnEnds = Flaws(rawValue: 1 << 6)
        /// Pushes into a back-off.
        package static let ignoresBackOff = Flaws(rawValue: 1 << 7)
        /// Waits for ever for the adoption of a start that was answered 200.
        package static let waitsForEver = Flaws(rawValue: 1 << 8)
        /// Leaves the old activity standing beside the new one.
        package static let keepsOld = Flaws(rawValue: 1 << 9)
        /// Takes a widget for stuck that has not had its time.
        package static let hasNoGrace = Flaws(rawValue: 1 << 10)
        /// Sends updates to the token of an activity that was replaced.
        package static let updatesReplaced = Flaws(rawValue: 1 << 11)
        /// Starts again although the user swiped.
        package static let undoesSwipes = Flaws(rawValue: 1 << 12)
    }
}
