import COpenSSL
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What the client's thread does: pushes come in, are written to a link, and end with an answer or an error.
final class PushEngine {
    /// The most links that only wait for their last answers.
    static let drainingLimit = 16
    /// How long nothing is sent after the service refused our provider token for good.
    static let restAfterRefusal: Duration = ProviderToken.shortestAge

    let configuration: APNsConfiguration
    let tls: TLSContext
    var mint: TokenMint
    var now: Duration
    var line = WaitingLine()
    /// The link that new pushes are written to; `nil` until one is needed.
    var current: Link?
    /// Links that take no more pushes.
    var draining: [Link] = []
    var counts = APNsDiagnostics()
    private(set) var isClosed = false

    private let lookUp: (Int) -> Void
    private var lastLinkID = 0
    private var lastNumber: UInt64 = 0
    private var runs: [RunState] = []
    private var polled: [Link] = []
    /// `bearer ` and the token.
    private var bearer: [UInt8] = []
    private var bearerSerial = 0
    /// A moment at or before the first deadline of all pushes; `nil` where there is none.
    private var nextDeadline: Duration?

    /// How many attempts to connect have failed since the last answer.
    var failedDials = 0
    var dialNotBefore: Duration?
    private var lastFailure: APNsError?
    /// Until when nothing is sent because the service refused our token, and what callers are told.
    var rest: (until: Duration, error: APNsError)?

    /// `lookUp` finds the addresses for the link of that number, which are then told by an order.
    init(_ configuration: APNsConfiguration, _ key: ProviderKey, _ tls: TLSContext, lookUp: @escaping (Int) -> Void) {
        self.configuration = configuration
        self.tls = tls
        self.lookUp = lookUp
        mint = TokenMint(key, configuration.tokenFile.map(ProviderTokenFile.init))
        now = configuration.clock.timer()
    }

    /// Takes in pushes and follows orders, then does all that can be done without waiting.
    func work(_ sends: [PushLoop.Send], _ orders: [PushLoop.Order]) {
        now = configuration.clock.timer()
        for send in sends { take(Push(send.ticket, send.continuation, number: newNumber(), deadline: newDeadline)) }
        for order in orders { follow(order) }
        var isSettled = false
        while !isSettled, !isClosed {
            takeEnds()
            topUp()
            expire()
            line.release(at: now)
            replaceLinks()
            write()
            isSettled = links.allSatisfy(\.ends.isEmpty)
        }
    }

    var links: [Link] { draining + (current.map { [$0] } ?? []) }

    private func follow(_ order: PushLoop.Order) {
        switch order {
        case .cancel(let ticket): cancel(ticket)
        case .run(let run): runs.append(RunState(run))
        case .resolved(let number, let answer):
            if let link = links.first(where: { $0.id == number }) { link.resolved(answer, now: now) }
        case .diagnose(let continuation): continuation.resume(returning: diagnostics)
        case .close: closeAll()
        }
    }

    /// Answers what came after the end.
    func refuse(_ sends: [PushLoop.Send], _ orders: [PushLoop.Order]) {
        for send in sends { send.continuation.resume(returning: .failure(.closed)) }
        for order in orders {
            switch order {
            case .run(let run): run.finish()
            case .diagnose(let continuation): continuation.resume(returning: diagnostics)
            case .cancel, .resolved, .close: break
            }
        }
    }

    /// What was done so far, with the processor time of this thread.
    var diagnostics: APNsDiagnostics {
        var counts = counts
        counts.waiting = line.count
        counts.underWay = links.reduce(0) { $0 + $1.streams.count }
        counts.tokensSigned = mint.signed
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        counts.processorTime = .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        return counts
    }
}

// MARK: - Pushes come in and end

extension PushEngine {
    private func newNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    private var newDeadline: Duration { now + configuration.requestTimeout }

    private func take(_ push: Push) {
        if push.isCancelled { return end(push, .failure(.cancelled)) }
        if let rest, now < rest.until { return end(push, .failure(rest.error)) }
        guard line.count < configuration.waitingLimit else {
            return end(
                push,
                .failure(
                    APNsError(
                        .overloaded,
                        "\(line.count) pushes wait already.",
                        remedy: "Send less often, or give progress a replacement key."
                    )
                )
            )
        }
        if nextDeadline == nil { nextDeadline = push.deadline }
        if let older = line.add(push) {
            counts.replaced += 1
            end(older, .failure(.replaced))
        }
    }

    /// Lets runs have as many pushes under way as they want.
    private func topUp() {
        guard !runs.isEmpty else { return }
        for state in runs {
            while !state.isAtEnd, state.underWay < state.run.inFlight {
                guard let request = state.run.next() else {
                    state.isAtEnd = true
                    break
                }
                state.underWay += 1
                state.count += 1
                take(Push(request, of: state, state.count - 1, number: newNumber(), deadline: newDeadline))
            }
        }
        runs.removeAll { state in
            guard state.isAtEnd, state.underWay == 0 else { return false }
            state.run.finish()
            return true
        }
    }

    func end(_ push: Push, _ outcome: Push.Outcome) {
        guard !push.isOver else { return }
        push.isOver = true
        var wasAnswered = false
        switch outcome {
        case .success:
            wasAnswered = true
            counts.answered += 1
        case .failure(let error):
            if error.code != .replaced { counts.failed += 1 }
        }
        line.ended(push, wasAnswered: wasAnswered)
        push.tell(outcome)
    }

    private func cancel(_ ticket: PushTicket) {
        func isMeant(_ push: Push) -> Bool { push.ticket === ticket }
        if let push = line.all.first(where: isMeant) {
            line.remove(push)
            return end(push, .failure(.cancelled))
        }
        for link in links {
            guard let push = link.streams.pushes.first(where: isMeant) else { continue }
            link.abandon(push)
            return end(push, .failure(.cancelled))
        }
    }

    /// Ends what has no time left, and finds the next deadline.
    private func expire() {
        guard let due = nextDeadline, now >= due else { return }
        nextDeadline = nil
        for push in line.all {
            guard now >= push.deadline else {
                note(push.deadline)
                continue
            }
            line.remove(push)
            end(push, .failure(timeOut(push)))
        }
        for link in links {
            for push in link.streams.pushes {
                guard now >= push.deadline else {
                    note(push.deadline)
                    continue
                }
                link.abandon(push)
                end(push, .failure(timeOut(push)))
            }
        }
    }

    func note(_ deadline: Duration) {
        nextDeadline = nextDeadline.map { min($0, deadline) } ?? deadline
    }

    /// Why a push has no answer: the last failure to connect, where that is the reason.
    private func timeOut(_ push: Push) -> APNsError {
        let within = "within \(configuration.requestTimeout)"
        if current?.phase != .open, let lastFailure {
            return APNsError(
                lastFailure.code,
                "No answer \(within): \(lastFailure.message)",
                remedy: lastFailure.remedy
            )
        }
        let sent = push.attempts == 0 ? "it was not sent" : "it was sent \(push.attempts)×"
        return APNsError(
            .timedOut,
            "\(configuration.endpoint) did not answer the push \(push.request.id) \(within); \(sent).",
            remedy: "Check this machine's network."
        )
    }

    /// Ends everything that waits with the same error.
    func failWaiting(_ error: APNsError) {
        for push in line.all {
            line.remove(push)
            end(push, .failure(error))
        }
    }

    private func closeAll() {
        failWaiting(.closed)
        for link in links {
            let under = link.streams.removeAll()
            link.close()
            link.ends = []
            link.release()
            for push in under { end(push, .failure(.closed)) }
        }
        current = nil
        draining = []
        for state in runs {
            state.isAtEnd = true
        }
        topUp()
        isClosed = true
    }
}

// MARK: - Links

extension PushEngine {
    /// Sorts out links that ended or take no more, and makes a new one where it is needed.
    private func replaceLinks() {
        for link in links {
            counts.goaways += link.goaways
            link.goaways = 0
        }
        if let link = current, link.phase == .closed || link.isDraining {
            current = nil
            if link.phase == .closed {
                lost(link)
            } else {
                draining.append(link)
            }
        }
        if !draining.isEmpty { tidyDraining() }
        guard current == nil, line.hasReady, dialNotBefore.map({ $0 <= now }) ?? true else { return }
        dialNotBefore = nil
        lastLinkID += 1
        let link = Link(lastLinkID, configuration, tls, now: now)
        current = link
        lookUp(link.id)
    }

    private func tidyDraining() {
        if draining.count > Self.drainingLimit { draining[0].close() }
        for link in draining where link.isSpent { link.close() }
        draining.removeAll { link in
            guard link.phase == .closed, link.ends.isEmpty else { return false }
            if link.failure?.error.code == .timedOut { counts.stalledConnections += 1 }
            if !link.hasAnswered { dialFailed(nil) }
            link.release()
            return true
        }
    }

    /// The current link is closed: with or without having come about.
    private func lost(_ link: Link) {
        let failure = link.failure
        if failure?.error.code == .timedOut { counts.stalledConnections += 1 }
        if !link.hasAnswered {
            if !link.hasOpened { counts.failedConnections += 1 }
            dialFailed(failure?.error)
            if let failure, failure.isFinal { failWaiting(failure.error) }
        }
        // What it owed is taken first.
        link.ends.isEmpty ? link.release() : draining.append(link)
    }

    func dialFailed(_ error: APNsError?) {
        failedDials += 1
        if let error { lastFailure = error }
        dialNotBefore = now + configuration.backOff.delay(attempt: failedDials, random: configuration.random())
    }

    /// Writes what may be written to the current link, and what every link has to say.
    private func write() {
        if let link = current, line.hasReady, link.canOpen { fill(link) }
        for link in draining { link.flush() }
        current?.flush()
    }

    private func fill(_ link: Link) {
        do throws(APNsError) {
            let token = try mint.current(wallSeconds: configuration.clock.wallSeconds())
            if bearerSerial != mint.serial {
                bearer = Array("bearer ".utf8) + token.text.utf8
                bearerSerial = mint.serial
            }
        } catch {
            return failWaiting(error)
        }
        var opened = 0
        bearer.withUnsafeBufferPointer { bearer in
            while link.canOpen, let push = line.next() {
                if push.isCancelled {
                    end(push, .failure(.cancelled))
                } else if link.open(push, bearer: bearer, tokenSerial: bearerSerial, now: now) {
                    counts.sent += 1
                    if push.attempts > 1 { counts.resent += 1 }
                    opened += 1
                    // About a full record of TLS: the server works on it while we make the next.
                    if opened.isMultiple(of: 32) { link.flush() }
                } else {
                    sendAgain(push, after: nil)
                    return
                }
            }
        }
    }

    /// Adds the sockets to wait for.
    func addSockets(to sockets: inout [pollfd]) {
        polled.removeAll(keepingCapacity: true)
        for link in draining { add(link, &sockets) }
        if let current { add(current, &sockets) }
    }

    private func add(_ link: Link, _ sockets: inout [pollfd]) {
        guard let events = link.pollEvents else { return }
        polled.append(link)
        sockets.append(pollfd(fd: link.descriptor, events: events, revents: 0))
    }

    /// Reads from those that are ready; the first is not a link's.
    func socketsReady(_ sockets: [pollfd]) {
        now = configuration.clock.timer()
        for (index, link) in polled.enumerated() where sockets[index + 1].revents != 0 || link.hasMoreInput {
            let wasOpen = link.phase == .open
            link.ready(now: now)
            if !wasOpen, link.phase == .open { counts.connections += 1 }
        }
    }

    /// How long the thread may sleep, for `poll`; -1 is until somebody wakes it.
    var sleepMilliseconds: Int32 {
        var next = nextDeadline
        func consider(_ moment: Duration?) {
            guard let moment else { return }
            next = next.map { min($0, moment) } ?? moment
        }
        for link in links { consider(link.checkTimers(now: now)) }
        if current == nil, line.hasReady { consider(dialNotBefore) }
        consider(line.nextRelease)
        if links.contains(where: { $0.phase == .closed || $0.hasMoreInput }) { return 0 }
        guard let next else { return -1 }
        let (seconds, attoseconds) = max(.zero, next - now).components
        guard seconds < 3600 else { return 3_600_000 }
        return Int32(seconds) * 1000 + Int32((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
