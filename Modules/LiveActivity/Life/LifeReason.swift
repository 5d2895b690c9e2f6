#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// In which state the life of an activity is.
public enum LifeState: String, Sendable, Hashable, Codable, CaseIterable {
    /// There is none, and none is under way.
    case off
    /// One stands and is up to date.
    case running
    /// A new one is being asked for, in place of an old one.
    case renewing
    /// A start was sent, and the phone has not said that it came.
    case awaitingAdoption
    /// A start is due and must wait.
    case backingOff
    /// The one that stands is due and cannot be renewed now; a tap on it would help.
    case renewalFailed
    /// The user swiped it away; the next install brings one.
    case dismissedByUser
}

/// Why something is as it is, or was done or left out.
public enum LifeReason: Sendable, Hashable, Codable {
    // Why the state is what it is.
    case noInstalls
    case switchedOff
    case switchedOffInSettings
    case unsupported(String)
    case showing(IslandID)
    case swiped(IslandID)
    case presumedSwiped(IslandID)
    case requesting
    case startSent
    case startAnswered(retryAt: Date)
    case noPushToStartToken
    case backingOff(until: Date, status: Int)
    case startsUnadopted(Int, until: Date)
    case onlyInForeground
    case comingToForeground
    case requestRefused(String)

    // What was done.
    case started(seq: Int, StartCause)
    case pushedStart(seq: Int, StartCause, isSilent: Bool)
    case adopted(IslandID, inPlaceOf: IslandID?)
    case ended(IslandID, EndCause)
    case tokenCame(IslandID)
    case startTokenCame
    case startTokenVoid(status: Int)
    case startFailed(status: Int, until: Date)
    case updatesWait(until: Date, status: Int)
    case updateRefused(status: Int)
    case endWaits(IslandID, until: Date, status: Int)
    case toldToTap
    case wentStale(IslandID)
    case systemEnded(IslandID)
    case widgetStuck(IslandID, seq: Int, seen: Int?)
    case widgetStaysStuck(IslandID)
    case launched(found: Int?)
    case terminates
    case swipeRevoked(IslandID)

    // What was left out.
    case ownEnd(IslandID)
    case replacedBefore(IslandID)
    case pastItsDate(IslandID)
    case unknownSeq(Int)
    case waitsForToken(IslandID)

    // What went wrong beside it.
    case recordDamaged
    case recordNotSaved(String)
}

/// Why an activity is started.
public enum StartCause: String, Sendable, Hashable, Codable {
    /// There is none.
    case none
    /// The one that stands comes to its end.
    case renewal
    /// The one that was found at launch is stale or marked failed.
    case coldStart
    /// Its widget does not draw any more.
    case stuckWidget
    /// Pushed starts get lost: begin from scratch.
    case forced
}

/// Why an activity is ended.
public enum EndCause: String, Sendable, Hashable, Codable {
    /// The last install is gone.
    case noInstalls
    /// Activities are switched off.
    case switchedOff
    /// Another one takes its place.
    case replaced
    /// The user does not want one.
    case unwanted
}

extension LifeReason {
    /// The reason as half a sentence.
    ///
    /// - Parameter time: How a time of day is written.
    public func text(time: (Date) -> String) -> String {
        switch self {
        case .noInstalls: "no install runs"
        case .switchedOff: "switched off"
        case .switchedOffInSettings: "switched off in Settings"
        case .unsupported(let why): "not supported: \(why)"
        case .showing(let id): "\(id) shows the installs"
        case .swiped(let id): "the user swiped \(id) away; the next install brings a new one"
        case .presumedSwiped(let id):
            "\(id) is gone from the phone, most likely swiped; the next install brings a new one"
        case .requesting: "asking the system for one"
        case .startSent: "a start was pushed and is not answered yet"
        case .startAnswered(let date): "a start was pushed and the phone has not adopted it; again at \(time(date))"
        case .noPushToStartToken: "no token yet"
        case .backingOff(let date, let status): "backing off until \(time(date)) after \(Self.word(status))"
        case .startsUnadopted(let count, let date): "\(count) starts in a row were not adopted; again at \(time(date))"
        case .onlyInForeground: "only the app in front can start one"
        case .comingToForeground: "the app may be coming to the front"
        case .requestRefused(let why): "the system refused: \(why)"
        case .started(let seq, let cause): "asked the system for one (\(cause.text)), state \(seq)"
        case .pushedStart(let seq, let cause, let isSilent):
            "pushed a\(isSilent ? " silent" : "") start (\(cause.text)), state \(seq)"
        case .adopted(let id, let old): old.map { "\(id) takes the place of \($0)" } ?? "\(id) is there"
        case .ended(let id, let cause): "ended \(id): \(cause.text)"
        case .tokenCame(let id): "a token for \(id) came"
        case .startTokenCame: "a token for starts came"
        case .startTokenVoid(let status): "the token for starts is void (\(Self.word(status)))"
        case .startFailed(let status, let date): "a start failed with \(Self.word(status)); again at \(time(date))"
        case .updatesWait(let date, let status): "updates wait until \(time(date)) after \(Self.word(status))"
        case .updateRefused(let status): "an update was refused with \(Self.word(status)) and is not sent again"
        case .endWaits(let id, let date, let status):
            "ending \(id) failed with \(Self.word(status)); again at \(time(date))"
        case .toldToTap: "told the user to tap"
        case .wentStale(let id): "\(id) went stale"
        case .systemEnded(let id): "the system ended \(id)"
        case .widgetStuck(let id, let seq, let seen):
            "the widget of \(id) is stuck at \(seen.map { "state \($0)" } ?? "nothing"), \(seq) was sent"
        case .widgetStaysStuck(let id): "the widget of \(id) is stuck again; not started anew until it drew once"
        case .launched(let found): found.map { "launched; the phone has \($0)" } ?? "launched"
        case .terminates: "the process ends"
        case .swipeRevoked(let id): "\(id) is there after all"
        case .ownEnd(let id): "\(id) left the screen as we had ended it"
        case .replacedBefore(let id): "\(id) was replaced before"
        case .pastItsDate(let id): "\(id) left the screen past its date: that was the system"
        case .unknownSeq(let seq): "the widget reports state \(seq), which was never sent"
        case .waitsForToken(let id): "\(id) has no token yet"
        case .recordDamaged: "the record could not be read and was begun anew"
        case .recordNotSaved(let why): "the record could not be kept: \(why)"
        }
    }

    private static func word(_ status: Int) -> String {
        status == 0 ? "no answer" : "\(status)"
    }
}

extension StartCause {
    /// The cause in a word or two.
    var text: String {
        switch self {
        case .none: "there is none"
        case .renewal: "renewal"
        case .coldStart: "found unusable at launch"
        case .stuckWidget: "stuck widget"
        case .forced: "starts got lost"
        }
    }
}

extension EndCause {
    /// The cause in a few words.
    var text: String {
        switch self {
        case .noInstalls: "the last install is gone"
        case .switchedOff: "switched off"
        case .replaced: "another takes its place"
        case .unwanted: "it is not wanted"
        }
    }
}

/// One decision with its reason.
public struct LifeDecision: Sendable, Hashable, Codable {
    /// When it was taken.
    public let date: Date
    /// Why, or what.
    public let reason: LifeReason

    /// The time and the reason, as a line of a log.
    ///
    /// - Parameter time: How a time of day is written; by default `14:02` in UTC.
    public func text(time: (Date) -> String = LifeDecision.utc) -> String {
        time(date) + " " + reason.text(time: time)
    }

    /// Hours and minutes of a date in UTC.
    public static func utc(_ date: Date) -> String {
        let day = 86_400.0
        let second = date.timeIntervalSince1970.truncatingRemainder(dividingBy: day)
        guard second.isFinite else { return "--:--" }
        let minutes = Int((second < 0 ? second + day : second) / 60)
        let (hour, minute) = (minutes / 60 % 24, minutes % 60)
        return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
    }
}

/// How it stands, for people: what `ferry island status` shows.
public struct LifeStatus: Sendable, Hashable, Codable {
    /// The state.
    public let state: LifeState
    /// Why it is that.
    public let reason: LifeReason
    /// Since when.
    public let since: Date
    /// The activity that stands, if there is one.
    public let island: IslandID?
    /// When the system will end it.
    public let deadline: Date?
    /// How many installs run.
    public let installs: Int
    /// When the next thing is due without an input.
    public let nextWake: Date?

    /// A line such as `backingOff since 13:57: backing off until 14:02 after 429`.
    ///
    /// - Parameter time: How a time of day is written; by default `14:02` in UTC.
    public func text(time: (Date) -> String = LifeDecision.utc) -> String {
        "\(state.words) since \(time(since)): \(reason.text(time: time))"
    }
}

extension LifeRecord {
    /// How it stood when the record was saved, for those who have nothing but the record.
    public func status(_ rules: LifeRules = LifeRules()) -> LifeStatus {
        LifeStatus(
            state: state,
            reason: reason,
            since: since,
            island: current?.id,
            deadline: current?.startedAt.addingTimeInterval(rules.activeLimit),
            installs: installs,
            nextWake: nil
        )
    }
}

extension LifeState {
    /// The state in words.
    public var words: String {
        switch self {
        case .off: "off"
        case .running: "running"
        case .renewing: "renewing"
        case .awaitingAdoption: "awaiting adoption"
        case .backingOff: "backing off"
        case .renewalFailed: "renewal failed, tap to update"
        case .dismissedByUser: "dismissed by the user"
        }
    }
}
