import FerryBytes
import FerryDevice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// `ferry uninstall`: removes an app from a device.
enum Uninstall {
    static let verb = Verb(
        name: "uninstall",
        summary: "remove an app, with all its data, from a device",
        discussion: """
            What the app has kept on the device goes with it, and nothing brings it back. So it is asked for first on a \
            terminal; without one, --yes must be given.
            """,
        examples: [
            .init(purpose: "From the device that is connected", command: "ferry uninstall com.example.harbour"),
            .init(
                purpose: "In a script",
                command: "ferry uninstall com.example.harbour --device 00008110-000A11223344801E --yes"
            ),
        ],
        positionals: [Positional(name: "BUNDLE.ID", kind: .text, help: "the app; “ferry apps” lists them")],
        options: [.device, Option(name: "--yes", short: "-y", help: "do not ask"), .json],
        environment: [.usbmuxd],
        run: run
    )

    private struct Report: Encodable {
        let identifier: String
        let name: String
        let device: String
        let removed: Bool
    }

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let identifier = invocation.arguments.required("BUNDLE.ID")
        let device = try await Device.find(invocation.arguments.value("--device"))
        let facts = try await device.facts()
        guard let app = try await device.app(identifier) else {
            throw InputError(
                message: "\(facts.title): \(identifier.printable) is not installed there.",
                remedy: "“ferry apps --device \(device.identifier)” lists what is.",
                code: "notInstalled"
            )
        }
        if !invocation.arguments.flag("--yes") {
            try await confirm(
                "Remove \(app.name.printable) (\(identifier.printable)) and its data from \(facts.title)?"
            )
        }
        try await device.uninstall(identifier)
        let report = Report(identifier: identifier, name: app.name, device: device.identifier, removed: true)
        try invocation.show(report, text: "\(app.name.printable) is removed from \(facts.title)")
        return .done
    }

    private static func confirm(_ question: String) async throws {
        guard isatty(STDIN_FILENO) == 1, let answer = try await Question().ask(question + " [y/N] ") else {
            throw UsageError(
                .missingOption,
                "Removing an app removes its data, and there is no terminal to ask at.",
                advice: "Give --yes if that is meant.",
                verb: verb.name
            )
        }
        guard ["y", "yes"].contains(answer.lowercased()) else { throw CancellationError() }
    }
}

/// Asks for a word on a terminal.
private struct Question {
    /// The answer; `nil` where there is no terminal. Throws `CancellationError` where there comes none.
    func ask(_ question: String) async throws -> String? {
        var prompt = PasswordPrompt()
        prompt.isHidden = false
        return try await prompt.ask(question)?.revealed
    }
}
