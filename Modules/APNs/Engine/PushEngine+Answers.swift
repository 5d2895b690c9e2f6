extension PushEngine {
    func takeEnds() {
        for link in links where !link.ends.isEmpty {
            let ends = link.ends
            link.ends.removeAll(keepingCapacity: true)
            var unprocessed: [Push] = []
            for (push, end) in ends {
                switch end {
                case .answered: answered(push, by: link)
                case .notProcessed where link.isDraining: unprocessed.append(push)
                case .notProcessed: broken(push, "refused the push again and again")
                case .lost: unprocessed.append(push)
                case .broken(let code): broken(push, "broke off the push (HTTP/2 error \(code))")
                }
            }
            // nghttp2 tells of them in no order.
            unprocessed.sort { $0.number < $1.number }
            for push in unprocessed { sendAgain(push, after: nil) }
        }
    }

    func sendAgain(_ push: Push, after delay: Duration?) {
        guard !push.isOver else { return }
        if push.isCancelled { return end(push, .failure(.cancelled)) }
        push.notBefore = delay.map { now + $0 }
        guard line.takeBack(push) else {
            counts.replaced += 1
            return end(push, .failure(.replaced))
        }
        note(push.deadline)
    }

    /// A stream that ended without an answer though the connection is there.
    private func broken(_ push: Push, _ what: String) {
        push.brokenStreams += 1
        let delay = configuration.backOff.delay(attempt: push.brokenStreams, random: configuration.random())
        guard push.brokenStreams <= configuration.retries, now + delay < push.deadline else {
            return end(push, .failure(APNsError(.connection, "\(configuration.endpoint) \(what).")))
        }
        sendAgain(push, after: delay)
    }

    private func answered(_ push: Push, by link: Link) {
        let answer = response(push)
        if answer.reason?.code == .tooManyProviderTokenUpdates { return tooManyTokens(push, answer, link) }
        failedDials = 0
        guard push.status != 200 else { return end(push, .success(answer)) }
        switch (push.status, answer.reason?.code) {
        case (403, .expiredProviderToken) where !push.hasRenewed: renew(push, answer)
        case (403, .invalidProviderToken):
            end(push, .success(answer))
            stop(answer)
        case (500..., let reason):
            if reason == .shutdown { link.isDraining = true }
            busy(push, answer)
        default: end(push, .success(answer))
        }
    }

    /// The connection remembers, and every push on it would get the same answer: another one, after a wait.
    private func tooManyTokens(_ push: Push, _ answer: PushResponse, _ link: Link) {
        if !link.isDraining {
            link.isDraining = true
            dialFailed(nil)
        }
        guard !push.hasMoved, let dialNotBefore, dialNotBefore < push.deadline else {
            return end(push, .success(answer))
        }
        push.hasMoved = true
        sendAgain(push, after: nil)
    }

    private func busy(_ push: Push, _ answer: PushResponse) {
        push.busyAnswers += 1
        let delay = max(
            configuration.backOff.delay(attempt: push.busyAnswers, random: configuration.random()),
            answer.retryAfter ?? .zero
        )
        guard push.busyAnswers <= configuration.retries, now + delay < push.deadline else {
            return end(push, .success(answer))
        }
        sendAgain(push, after: delay)
    }

    private func renew(_ push: Push, _ answer: PushResponse) {
        push.hasRenewed = true
        let order = try? mint.refused(
            serial: push.tokenSerial,
            wallSeconds: configuration.clock.wallSeconds(),
            now: now
        )
        guard order == .again else { return end(push, .success(answer)) }
        sendAgain(push, after: nil)
    }

    /// Nothing more is sent for a while: the service would answer the same to every push, and blocks who does not stop.
    private func stop(_ answer: PushResponse) {
        let error = APNsError(
            .providerToken,
            answer.explanation,
            remedy: "No push is sent with this key for \(Self.restAfterRefusal.components.seconds / 60) minutes."
        )
        rest = (now + Self.restAfterRefusal, error)
        failWaiting(error)
    }

    private func response(_ push: Push) -> PushResponse {
        let wallSeconds = configuration.clock.wallSeconds()
        let body = push.status == 200 ? AnswerBody() : AnswerBody(push.body)
        return PushResponse(
            status: push.status,
            reason: push.status == 200 ? nil : PushReason(body.reason ?? ""),
            apnsID: push.request.id,
            uniqueID: push.uniqueID,
            timestamp: body.timestamp,
            retryAfter: push.retryAfter.flatMap { RetryAfter.wait($0, wallSeconds: wallSeconds) },
            attempts: push.attempts,
            environment: configuration.endpoint.environment,
            tokenStart: push.status == 200 ? "" : String(push.request.token.prefix(8)),
            wallSeconds: wallSeconds
        )
    }
}
