import FerryWeb

// What is wrong with answers.
extension DownloadCourse {
    /// What makes a 200 or 206 useless.
    func fault(_ answer: Answer, _ request: Request, totalBytes total: Int64?) -> Refusal? {
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
        if let agreedLength, agreedLength != total {
            return .fail(otherLength(request, total, agreedLength), keepsPartial: true)
        }
        return total > limits.lengthLimit ? .failWhole(tooMuch(promised: limits.lengthLimit), keepsPartial: false) : nil
    }

    func redirect(_ answer: Answer, _ lane: Lane) -> Refusal {
        let from = lane.request.address
        func refuse(_ message: String) -> Refusal {
            .fail(
                DownloadError(.redirect, message, remedy: "Check the address; give the one that it should lead to."),
                keepsPartial: true
            )
        }
        guard lane.redirects < limits.maxRedirects else {
            return refuse(
                "\(origins[lane.request.source].shown) redirects more than \(limits.maxRedirects) times, now at \(from.shown)."
            )
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
    func nothingMore(_ answer: Answer) -> Refusal {
        if case .nothing(let total)? = answer.range, total == present.front, total == totalBytes ?? total {
            return .complete
        }
        return .startOver(reason: "The server has no such part of the file.")
    }

    func failure(_ answer: Answer, _ request: Request) -> Refusal {
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

    func otherLength(_ request: Request, _ total: Int64?, _ length: Int64) -> DownloadError {
        DownloadError(
            .lengthMismatch,
            "\(request.address.shown): the mirror's file has \(total.map { "\($0)" } ?? "an unknown number of") bytes, "
                + "but the other has \(length).",
            remedy: "Check whether the mirror has the same file."
        )
    }

    func wrongLength(_ length: Int64) -> DownloadError {
        DownloadError(
            .lengthMismatch,
            "\(origin.shown): \(limits.expectedLength ?? 0) bytes were expected, but the file has \(length).",
            remedy: "The file on the server is another one; check where the expected length comes from."
        )
    }

    func tooMuch(promised: Int64) -> DownloadError {
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
