import FerryAPNs
import FerryAPNsReporter
import FerryBytes
import FerryLiveActivity
import FoundationEssentials

extension Island {
    static func run(_ invocation: Invocation) async throws -> ExitCode {
        let configuration = try IslandConfiguration(path: invocation.arguments.required("CONFIG"))
        let folder = try IslandFolder(configuration, in: try invocation.islandFolder())
        if invocation.arguments.required("WHAT") == "status" {
            let report = Report(configuration, folder, lines: invocation.arguments.number("--lines") ?? 10)
            try invocation.show(report, text: report.text)
        } else {
            let messages = try messages(invocation.arguments)
            for message in messages { try folder.send(message) }
            let count = "\(messages.count) \(messages.count == 1 ? "message" : "messages")"
            try invocation.show(
                ["messages": messages.count],
                text: folder.isDriven
                    ? "\(count) for the process that drives the island"
                    : "\(count) for the next process that drives the island"
            )
        }
        return .done
    }

    /// What the options say that the phone says, in the order in which it must be heard.
    static func messages(_ arguments: ParsedArguments) throws -> [IslandMessage] {
        var messages: [IslandMessage] = []
        if let answer = arguments.value("--allowed") { messages.append(.allowed(answer == "yes")) }
        if let text = arguments.value("--push-to-start") {
            messages.append(.pushToStartToken(try token(text, "--push-to-start")))
        }
        if let text = arguments.value("--activity") {
            guard let id = IslandID(rawValue: text) else {
                throw UsageError(.invalidValue, "--activity: it is no activity's id.", verb: "island")
            }
            if let update = arguments.value("--update") {
                messages.append(.updateToken(id, try token(update, "--update")))
            }
            if arguments.flag("--dismissed") { messages.append(.dismissed(id)) }
            if arguments.flag("--ended") { messages.append(.ended(id)) }
        } else if arguments.isGiven("--update") || arguments.flag("--dismissed") || arguments.flag("--ended") {
            throw UsageError(.missingOption, "--activity is missing: which one is it about?", verb: "island")
        }
        if let seq = arguments.number("--seen") { messages.append(.widgetSaw(seq)) }
        guard !messages.isEmpty else {
            throw UsageError(
                .missingOption,
                "there is nothing to report.",
                advice: "Give --push-to-start, or --activity with --update, or another of them.",
                verb: "island"
            )
        }
        return messages
    }

    private static func token(_ text: String, _ option: String) throws -> PushToken {
        guard let token = PushToken(hex: text) else {
            throw UsageError(
                .invalidValue,
                "\(option): a token is an even number of hexadecimal digits.",
                verb: "island"
            )
        }
        return token
    }
}

extension Island {
    /// What `ferry island status` says.
    struct Report: Encodable {
        let device: String
        let bundleID: String
        let endpoint: String
        let state: String
        let reason: String
        let since: Date?
        let isDriven: Bool
        let activity: String?
        let deadline: Date?
        let hasActivityToken: Bool
        let hasStartToken: Bool
        let waitingMessages: Int
        let journal: [String]

        init(_ configuration: IslandConfiguration, _ folder: IslandFolder, lines: Int) {
            let known = folder.record()
            let record = known ?? LifeRecord()
            let waiting = folder.waiting
            device = configuration.device
            bundleID = configuration.bundleID
            endpoint = configuration.endpoint.description
            state = record.state.words
            reason = record.reason.text(time: LifeDecision.utc)
            since = known?.since
            isDriven = folder.isDriven
            activity = record.current?.id.rawValue
            deadline = record.current.map { $0.startedAt.addingTimeInterval(LifeRules().activeLimit) }
            hasActivityToken = record.current?.token != nil
            hasStartToken =
                record.pushToStartToken != nil
                || waiting.contains { if case .pushToStartToken = $0 { true } else { false } }
            waitingMessages = waiting.count
            journal = folder.journal(last: lines)
        }

        var text: String {
            var rows = [
                ("device", "\(device), \(bundleID) at \(endpoint)"),
                ("state", "\(state): \(reason)" + (since.map { " (since \(LifeDecision.utc($0)) UTC)" } ?? "")),
                ("driven", isDriven ? "by a process that runs now" : "by no process now"),
                ("start token", hasStartToken ? "known" : "none yet: the app on the phone has to report it"),
            ]
            if let activity {
                let until = deadline.map { ", until \(LifeDecision.utc($0)) UTC" } ?? ""
                rows.append(("activity", activity + (hasActivityToken ? "" : ", without a token") + until))
            }
            if waitingMessages > 0 {
                rows.append(
                    ("waiting", "\(waitingMessages) from the phone, for the next process that drives the island")
                )
            }
            let width = rows.map(\.0.count).max() ?? 0
            let table = rows.map { $0.0 + String(repeating: " ", count: width - $0.0.count + 2) + $0.1 }
            return (table + (journal.isEmpty ? [] : ["", "Last decisions:"] + journal.map { "  " + $0 }))
                .joined(separator: "\n").printableLines
        }
    }
}

extension String {
    /// The text with nothing in it that would move a terminal's cursor but ends of lines.
    fileprivate var printableLines: String {
        split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }.joined(separator: "\n")
    }
}
