import FerryWeb

// What servers bring about.
extension DownloadCourse {
    /// The head of an answer is there. `receives` says whether its body belongs into the partial file.
    mutating func answered(_ answer: Answer) -> (steps: [Step], receives: Bool) {
        guard phase == .connecting else { return ([], false) }
        switch answer.status {
        case 200, 203:
            return whole(answer)
        case 206 where request.from > 0:
            return part(answer)
        case 301, 302, 303, 307, 308:
            refusal = redirect(answer)
        case 416 where request.from > 0:
            refusal = nothingMore(answer)
        default:
            refusal = failure(answer)
        }
        return ([], false)
    }

    /// How many of `count` further bytes are welcome: all of them, or none.
    mutating func accepts(_ count: Int) -> Bool {
        // A refusal ends the connection; bytes that still come would leave a gap behind those that were lost.
        guard phase == .receiving, refusal == nil else { return false }
        let (sum, overflow) = completedBytes.addingReportingOverflow(Int64(count))
        let end = min(bodyEnd ?? .max, totalBytes ?? .max, limits.lengthLimit)
        guard !overflow, sum <= end else {
            refusal = .fail(tooMuch(promised: end), keepsPartial: false)
            return false
        }
        completedBytes = sum
        return true
    }

    /// The bytes could not be written; the connection ends with this.
    mutating func writingFailed(_ error: DownloadError, completedBytes: Int64) {
        self.completedBytes = completedBytes
        refusal = .fail(error, keepsPartial: true)
    }

    /// The connection is gone. `glimpse` is the start of a body that was of no use.
    mutating func connectionEnded(_ ending: Ending, glimpse: [UInt8] = [], random: Double = 0) -> [Step] {
        guard phase == .connecting || phase == .receiving else { return [] }
        if let refusal {
            self.refusal = nil
            return follow(refusal, glimpse: glimpse, random: random)
        }
        if phase == .receiving, completedBytes == totalBytes || (ending == .complete && endsHere) {
            return isHeld ? rest() : seal()
        }
        switch ending {
        case .complete where phase == .receiving && version.totalBytes == nil && bodyEnd == nil:
            return end(wrongLength(completedBytes), keepsPartial: false)
        case .complete:
            let promised = (bodyEnd ?? totalBytes).map { " of \($0)" } ?? ""
            let error = DownloadError(
                .connection,
                "\(request.address.shown): the answer ended after \(completedBytes)\(promised) bytes.",
                remedy: "Try again later; what has arrived is kept."
            )
            return retry(error, after: nil, random: random)
        case .broken(let failure) where failure.canPass:
            return retry(failure.error, after: nil, random: random)
        case .broken(let failure):
            return end(failure.error, keepsPartial: true)
        }
    }
}

extension DownloadCourse {
    /// Whether an answer that came as a whole is the whole file: nobody knows of more.
    private var endsHere: Bool { totalBytes == nil && bodyEnd == nil }

    /// 200: the file from its first byte on.
    private mutating func whole(_ answer: Answer) -> (steps: [Step], receives: Bool) {
        if let fault = fault(answer, totalBytes: answer.bodyLength) {
            refusal = fault
            return ([], false)
        }
        let next = answer.version(totalBytes: answer.bodyLength)
        var steps: [Step] = []
        if request.from > 0 {
            let reason =
                next.differs(from: version)
                ? "The file on the server has changed." : "The server sends the file from its start only."
            steps.append(.tell(.restarted(reason: reason)))
        }
        version = next
        completedBytes = 0
        bodyEnd = answer.bodyLength
        phase = .receiving
        return (steps + [.startOver(version)] + started(resumedFrom: 0), true)
    }

    /// 206: the file from where we asked, if the server kept to that.
    private mutating func part(_ answer: Answer) -> (steps: [Step], receives: Bool) {
        guard case .part(let first, let last, let total)? = answer.range, first == request.from else {
            refusal = .startOver(reason: "The server sent another part than was asked for.")
            return ([], false)
        }
        if let fault = fault(answer, totalBytes: total ?? version.totalBytes) {
            refusal = fault
            return ([], false)
        }
        guard !answer.version(totalBytes: total).differs(from: version) else {
            refusal = .startOver(reason: "The file on the server has changed.")
            return ([], false)
        }
        let before = version
        version.totalBytes = version.totalBytes ?? total
        // `last` is below Int64.max, or there would be no total that it is below.
        bodyEnd = last < .max ? last + 1 : .max
        phase = .receiving
        let steps: [Step] = version == before ? [] : [.record(version)]
        return (steps + started(resumedFrom: request.from), true)
    }

    /// What makes a 200 or 206 useless.
    private func fault(_ answer: Answer, totalBytes total: Int64?) -> Refusal? {
        if answer.isWebPage, !limits.acceptsWebPages {
            return .webPage(
                DownloadError(
                    .webPage,
                    "\(request.address.shown) answered with a web page instead of the file",
                    remedy: "Open the address in a browser: it may ask for a login, or lead to the real address."
                )
            )
        }
        guard answer.isPlain else {
            return .fail(
                DownloadError(
                    .badAnswer,
                    "\(request.address.shown): the server encoded the file as \(answer.contentEncoding ?? "something"), "
                        + "which it was asked not to do.",
                    remedy: "Ask whoever runs the server to send this file without Content-Encoding."
                ),
                keepsPartial: true
            )
        }
        guard let total else { return nil }
        if let expected = limits.expectedLength, expected != total {
            return .fail(wrongLength(total), keepsPartial: false)
        }
        return total > limits.lengthLimit ? .fail(tooMuch(promised: limits.lengthLimit), keepsPartial: false) : nil
    }

    private func redirect(_ answer: Answer) -> Refusal {
        let from = request.address
        func refuse(_ message: String) -> Refusal {
            .fail(
                DownloadError(.redirect, message, remedy: "Check the address; give the one that it should lead to."),
                keepsPartial: true
            )
        }
        guard redirects < limits.maxRedirects else {
            return refuse("\(origin.shown) redirects more than \(limits.maxRedirects) times, now at \(from.shown).")
        }
        guard let location = answer.location, let next = from.following(location) else {
            return refuse("\(from.shown) redirects to an address that cannot be understood.")
        }
        guard next.scheme == "https" || next.scheme == "http" else {
            return refuse("\(from.shown) redirects to an address of the kind \(next.scheme):, which is not followed.")
        }
        guard from.scheme == "http" || next.scheme == "https" else {
            return refuse("\(from.shown) redirects from https to http (\(next.shown)), which is not followed.")
        }
        return .redirect(to: next)
    }

    /// 416: done if the length fits.
    private func nothingMore(_ answer: Answer) -> Refusal {
        if case .nothing(let total)? = answer.range, total == completedBytes, total == totalBytes ?? total {
            return .complete
        }
        return .startOver(reason: "The server has no such part of the file.")
    }

    private func failure(_ answer: Answer) -> Refusal {
        let status = answer.status
        let shown = request.address.shown
        func fail(_ code: DownloadError.Code, _ what: String, _ remedy: String) -> DownloadError {
            DownloadError(code, "\(shown): the server answered \(status)\(what).", remedy: remedy)
        }
        switch status {
        case 401, 407:
            let error = fail(.unauthorized, ", it wants a login", "Give the user name and password, or a token.")
            return .fail(error, keepsPartial: true)
        case 403:
            let error = fail(.forbidden, ", it does not allow this", "Ask for access; a signed link may have expired.")
            return .fail(error, keepsPartial: true)
        case 404, 410:
            let what = status == 404 ? ", it has no such file" : ", the file is gone for good"
            return .fail(fail(.notFound, what, "Check the address."), keepsPartial: true)
        case 408:
            return .retry(fail(.timedOut, ", it waited too long for us", "Try again later."), after: answer.retryDelay)
        case 429:
            return late(fail(.rateLimited, ", too many requests", "Wait, then try again."), answer)
        case 500...599:
            return late(fail(.serverError, ", it has a fault of its own", "Try again later."), answer)
        case 400...499:
            return .fail(fail(.refused, "", "Check the address and the headers."), keepsPartial: true)
        default:
            let remedy = "Check whether the address leads to a file."
            return .fail(fail(.badAnswer, ", which is no answer to this request", remedy), keepsPartial: true)
        }
    }

    /// A retry after what the server asks for, unless that is beyond the limit.
    private func late(_ error: DownloadError, _ answer: Answer) -> Refusal {
        guard let delay = answer.retryDelay, delay > limits.retryAfterLimit else {
            return .retry(error, after: answer.retryDelay)
        }
        let remedy = "It asks to wait \(delay.components.seconds) seconds; try again after that."
        return .fail(DownloadError(error.code, error.message, remedy: remedy), keepsPartial: true)
    }

    private mutating func follow(_ refusal: Refusal, glimpse: [UInt8], random: Double) -> [Step] {
        switch refusal {
        case .fail(let error, let keepsPartial):
            return end(error, keepsPartial: keepsPartial)
        case .webPage(let error):
            let line = Self.firstLine(of: glimpse)
            let message = error.message + (line.isEmpty ? "." : ": “\(line)”.")
            return end(DownloadError(error.code, message, remedy: error.remedy), keepsPartial: true)
        case .retry(let error, let after):
            return retry(error, after: after, random: random)
        case .startOver(let reason):
            return isHeld ? startOver(reason: reason) + rest() : startOver(reason: reason) + connect()
        case .redirect(let next):
            redirects += 1
            request.sendsCredentials = request.sendsCredentials && origin.sharesOrigin(with: next)
            request.address = next
            phase = .connecting
            return [.connect(request)]
        case .complete:
            return seal()
        }
    }

    /// Waits and tries again, or gives up.
    private mutating func retry(_ error: DownloadError, after: Duration?, random: Double) -> [Step] {
        if isHeld { return rest() }
        if completedBytes > highWater {
            highWater = completedBytes
            attempts = 0
        }
        guard attempts < limits.retries else { return end(error, keepsPartial: true) }
        attempts += 1
        let delay = max(limits.backOff.delay(attempt: attempts, random: random), after ?? .zero)
        phase = .waiting
        return [
            .sync, .tell(.retrying(attempt: attempts, after: delay, reason: error.message)), .startTimer(delay),
        ]
    }

    /// Held, and without a connection from here on.
    private mutating func rest() -> [Step] {
        phase = .resting
        return [.stopTimer, .sync]
    }

    private func wrongLength(_ length: Int64) -> DownloadError {
        DownloadError(
            .lengthMismatch,
            "\(origin.shown): \(limits.expectedLength ?? 0) bytes were expected, but the file has \(length).",
            remedy: "The file on the server is another one; check where the expected length comes from."
        )
    }

    private func tooMuch(promised: Int64) -> DownloadError {
        if promised == limits.lengthLimit, promised != totalBytes {
            return DownloadError(
                .tooMuchData,
                "\(origin.shown): the file is longer than \(promised) bytes, the limit.",
                remedy: "Raise the limit if the file may be so long."
            )
        }
        return DownloadError(
            .tooMuchData,
            "\(origin.shown): the server sent more than the \(promised) bytes that are due.",
            remedy: "Try again; if that does not help, the server or a proxy before it is broken."
        )
    }

    /// The first line with something in it, for people: at most 120 characters, nothing that a terminal would obey.
    static func firstLine(of bytes: [UInt8]) -> String {
        let text = String(decoding: bytes.prefix(4096), as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline).lazy.map { line in
            String(line.unicodeScalars.filter { $0.properties.generalCategory != .control }.map(Character.init)).trimmed
        }
        let line = lines.first { !$0.isEmpty } ?? ""
        return line.count > 120 ? line.prefix(119) + "…" : line
    }
}
