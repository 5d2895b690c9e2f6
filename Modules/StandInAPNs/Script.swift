/// How the stand-in is to misbehave; by default it does not.
package struct StandInScript: Sendable {
    /// An answer of the test's own.
    package struct Answer: Sendable {
        /// The status.
        package var status: Int
        /// `reason` of the body; `nil` for no body.
        package var reason: String?
        /// `timestamp` of the body, in milliseconds since 1970.
        package var timestamp: Int64?
        /// Header fields besides `apns-id`.
        package var headers: [(name: String, value: String)] = []
        /// The whole body, in place of what the above would give.
        package var body: [UInt8]?
        /// Breaks the stream off with this code of HTTP/2 instead.
        package var resetCode: UInt32?
        /// Never answers.
        package var isSilent = false

        /// Answers with a status and a reason.
        package init(_ status: Int, _ reason: String? = nil, timestamp: Int64? = nil, retryAfter: String? = nil) {
            self.status = status
            self.reason = reason
            self.timestamp = timestamp
            if let retryAfter { headers.append(("retry-after", retryAfter)) }
        }

        /// The same answer, changed.
        package func with(_ change: (inout Answer) -> Void) -> Answer {
            var copy = self
            change(&copy)
            return copy
        }

        /// Breaks the stream off.
        package static func reset(_ code: UInt32) -> Answer { Answer(0).with { $0.resetCode = code } }
        /// Never answers.
        package static let silence = Answer(0).with { $0.isSilent = true }
    }

    /// What happens to a whole connection after so many requests on it.
    package enum Mishap: Sendable {
        /// It is closed without a word.
        case close
        /// Nothing is read or written any more, and it stays open.
        case stall
        /// The limit of streams is lowered to that.
        case streamLimit(UInt32)
        /// These bytes are sent, whatever they are in HTTP/2.
        case bytes([UInt8])
    }

    /// Answers for a token, in order, each once; then it is judged as usual.
    package var answers: [String: [Answer]] = [:]
    /// Answers for the request of that number, counted from 1 over all connections.
    package var numbered: [Int: Answer] = [:]
    /// Sends a GOAWAY after every so many requests of a connection; later streams are not looked at.
    package var goawayEvery: Int?
    /// What happens to a connection after so many of its requests.
    package var mishap: (after: Int, what: Mishap)?
    /// To how many connections the mishap happens, from the first; `nil` to all.
    package var mishapConnections: Int?
    /// `SETTINGS_MAX_CONCURRENT_STREAMS`.
    package var streamLimit: UInt32 = 1000
    /// How many new provider tokens may come within 20 minutes; read when the server starts.
    package var tokenUpdateLimit = 2
    /// Closes connections before the handshake.
    package var rejectsTLS = false
    /// What is chosen by ALPN; `nil` chooses nothing.
    package var protocolName: String? = "h2"
    /// Whether PINGs are answered.
    package var answersPing = true
    /// Keeps every answer back until ``StandInAPNs/releaseAnswers()``.
    package var holdsAnswers = false

    /// Behaves.
    package init() {}

    /// Behaves, but for what `change` says.
    package init(_ change: (inout StandInScript) -> Void) {
        change(&self)
    }
}
