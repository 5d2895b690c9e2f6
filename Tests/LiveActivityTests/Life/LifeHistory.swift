import Foundation
import TestKit

@testable import FerryLiveActivity

/// What happens in a history, from outside the life.
enum Happening: Sendable, Hashable {
    case installBegins
    case installEnds
    case content(isUrgent: Bool)
    case comesToFront
    case comesToFrontAndLeaves
    case leavesFront
    case launches(inFront: Bool)
    case isKilled(byUser: Bool)
    case isSwiped
    case startTokenRotates
    case tokensRotate
    case limitsRate(seconds: Double, retryAfter: Double?)
    case isUnreachable(seconds: Double)
    case dropsStarts(Int)
    case widgetsHang
    case settings(isAllowed: Bool)
    case ourSwitch(isOn: Bool)
    /// The process of the life ends and begins: for an app, with it.
    case processRestarts
    /// The process ends right after the next thing that it does to the outside.
    case crashesAtNextAct
    case isUninstalled
    case isReinstalled
    case tick
}

/// One history: everything in it follows from these values.
struct LifeHistory: Sendable {
    /// Where the life runs.
    enum Place: Sendable { case app, appThatPushes, server }

    struct Moment: Sendable, CustomStringConvertible {
        var at: Double
        var what: Happening
        var description: String { "    \(at.rounded(.up)) s: \(what)" }
    }

    static let days = 3.0

    var seed: UInt64
    var place: Place
    var tick: Double
    var answerDelay: Double
    var phone = SimulatedPhone.Rules()
    var moments: [Moment]

    /// A random history; the same for the same seed.
    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        self.seed = seed
        place = [.app, .appThatPushes, .server, .server][Int.random(in: 0..<4, using: &random)]
        tick = [1, 10, 60, 300][Int.random(in: 0..<4, using: &random)]
        answerDelay = Bool.random(using: &random) ? 0 : 3
        phone.tokenDelay = [0.2, 1, 20][Int.random(in: 0..<3, using: &random)]
        phone.wakesApp = Int.random(in: 0..<4, using: &random) > 0
        phone.tellsDismissalFirst = Bool.random(using: &random)
        phone.dropsSilentStarts = Int.random(in: 0..<4, using: &random) == 0

        // Some histories are about installs that take days, some about much that happens.
        let isLong = Bool.random(using: &random)
        let isCalm = Bool.random(using: &random)
        let longestGap = isCalm ? 8 * 3_600.0 : 3 * 3_600.0
        var kinds: [(Int, Happening)] = [
            (14, .installBegins), (isLong ? 1 : 12, .installEnds), (10, .content(isUrgent: false)),
            (5, .content(isUrgent: true)), (12, .comesToFront), (2, .comesToFrontAndLeaves), (14, .leavesFront),
            (4, .launches(inFront: true)), (6, .launches(inFront: false)), (3, .isKilled(byUser: false)),
            (2, .isKilled(byUser: true)), (isLong ? 1 : 4, .isSwiped), (2, .startTokenRotates), (2, .tokensRotate),
            (1, .limitsRate(seconds: 600, retryAfter: nil)), (1, .limitsRate(seconds: 7_200, retryAfter: nil)),
            (1, .limitsRate(seconds: 60, retryAfter: 5_000)), (2, .isUnreachable(seconds: 900)), (2, .dropsStarts(1)),
            (1, .dropsStarts(6)), (3, .widgetsHang), (3, .processRestarts), (2, .crashesAtNextAct), (4, .tick),
        ]
        if !isLong || Int.random(in: 0..<4, using: &random) == 0 {
            kinds += [
                (1, .settings(isAllowed: false)), (3, .settings(isAllowed: true)), (1, .ourSwitch(isOn: false)),
                (3, .ourSwitch(isOn: true)),
            ]
        }
        if place == .server, Int.random(in: 0..<4, using: &random) == 0 {
            kinds += [(1, .isUninstalled), (3, .isReinstalled)]
        }
        let total = kinds.reduce(0) { $0 + $1.0 }
        moments = [Moment(at: 1, what: .launches(inFront: true)), Moment(at: 3, what: .installBegins)]
        var at = 3.0
        while true {
            // From a tenth of a second to hours, every order of magnitude as likely as the next.
            let exponent = Double.random(in: 0...1, using: &random)
            at += 0.1 * exp(exponent * log(longestGap / 0.1))
            guard at < Self.days * 86_400 else { break }
            var number = Int.random(in: 0..<total, using: &random)
            let kind = kinds.first { kind in
                number -= kind.0
                return number < 0
            }
            if let kind { moments.append(Moment(at: at, what: kind.1)) }
        }
    }

    /// The history with the moments that are needed to break the same rule: parts are left out for as long as it breaks.
    func shrunk(while breaks: (LifeHistory) -> Bool) -> LifeHistory {
        var best = self
        var size = max(best.moments.count / 2, 1)
        while true {
            var start = 0
            var didShrink = false
            while start < best.moments.count {
                var shorter = best
                shorter.moments.removeSubrange(start..<min(start + size, shorter.moments.count))
                if breaks(shorter) {
                    best = shorter
                    didShrink = true
                } else {
                    start += size
                }
            }
            if size > 1 {
                size = max(size / 2, 1)
            } else if !didShrink {
                return best
            }
        }
    }
}

extension LifeHistory: CustomStringConvertible {
    var description: String {
        """
        seed \(seed), \(place), tick \(tick) s, answers after \(answerDelay) s, tokens after \(phone.tokenDelay) s\
        \(phone.wakesApp ? "" : ", pushes wake nobody")\(phone.dropsSilentStarts ? ", silent starts are dropped" : "")
        \(moments.map(\.description).joined(separator: "\n"))
        """
    }
}
