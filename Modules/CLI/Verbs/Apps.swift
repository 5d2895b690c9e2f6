import FerryBytes
import FerryDevice

/// `ferry apps`: what is installed on a device.
enum Apps {
    static let verb = Verb(
        name: "apps",
        summary: "show the apps on a device",
        discussion: """
            Lists the apps that people installed, with their versions and the team that signed them. “ferry updates device” \
            shows which of them have a newer version in a published list.
            """,
        examples: [
            .init(purpose: "Of the device that is connected", command: "ferry apps"),
            .init(
                purpose: "Of one of several, as data",
                command: "ferry apps --device 00008110-000A11223344801E --json"
            ),
        ],
        options: [.device, Option(name: "--system", help: "the system's own apps as well"), .json],
        environment: [.usbmuxd],
        run: run
    )

    private struct Report: Encodable {
        let identifier: String
        let name: String
        let version: String?
        let build: String?
        let kind: String?
        let team: String?
    }

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let device = try await Device.find(invocation.arguments.value("--device"))
        let apps = try await device.apps(includingSystem: invocation.arguments.flag("--system"))
        let rows = apps.map { app in
            [
                app.name.printable, app.identifier.printable,
                ((app.version ?? "–") + (app.build.map { " (\($0))" } ?? "")).printable,
                (app.teamPrefix ?? "–").printable,
            ]
        }
        let reports = apps.map {
            Report(
                identifier: $0.identifier,
                name: $0.name,
                version: $0.version,
                build: $0.build,
                kind: $0.kind,
                team: $0.teamPrefix
            )
        }
        let text = rows.isEmpty ? "no app is installed there" : tableLines(rows).joined(separator: "\n")
        try invocation.show(reports, text: text)
        return .done
    }
}
