import FerryBytes
import FerrySample
import Foundation
import TestKit
import Testing

/// What a person does in the dashboard, with `ferry serve` behind it as it was built; each leg of the way is in `carry.py`.
@Suite(.enabled(if: Chromium.exists, Chromium.absent))
struct `An app that is carried by hand` {
    @Test(.timeLimit(.minutes(5)))
    func `is planned, held, released, delivered, checked and fetched in a browser`() async throws {
        try await carry(to: "folder:apps", legs: 10)
    }

    @Test(.timeLimit(.minutes(5)))
    func `is offered to a phone, delivered and reported, by a link that can be renewed and revoked`() async throws {
        try await carry(to: "ota", ["air"], legs: 10)
    }

    private func carry(to target: String, _ options: [String] = [], legs: Int) async throws {
        let server = try ServedFerry(target: target)
        defer { server.stop() }
        let address = try await server.address()
        let (verdicts, errors) = try await Chromium.run(
            "carry.py",
            [address, server.archive, ServedFerry.command] + options
        )
        for verdict in verdicts {
            if let fault = verdict.fault { Issue.record("\(verdict.check): \(fault) \(server.words)") }
        }
        // A script that broke off has told of fewer.
        #expect(verdicts.count >= legs && errors.isEmpty, "\(verdicts.count) legs. \(errors) \(server.words)")
    }
}

/// `ferry serve` with an identity, a profile and a home of its own.
final class ServedFerry: Sendable {
    /// SwiftPM builds it into the folder that the tests themselves run from.
    static let command = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appendingPathComponent("ferry").path

    private static let day: Int64 = 86_400
    private static let password = "tr0ub4dor&3 sésame"

    private let folder: TemporaryFolder
    private let process: Process

    /// An app that somebody else has published.
    var archive: String { folder.path("Harbour.ipa") }

    init(target: String) throws {
        folder = try TemporaryFolder()
        let now = Int64(Date().timeIntervalSince1970)
        let identity = try ThrowawayIdentity(notBefore: now - Self.day, notAfter: now + 300 * Self.day)
        let profile = SampleProfile(
            team: identity.team,
            certificates: [identity.leafDER],
            creation: now - Self.day,
            expiration: now + 200 * Self.day
        )
        try folder.write(identity.p12(password: Secret(Self.password)), to: "good.p12")
        try folder.write(profile.signed(by: identity.authority), to: "good.mobileprovision")
        try folder.write(Array((Self.password + "\n").utf8), to: "password.txt")
        var app = SampleApp()
        app.approximateBytes = 2_000_000
        try folder.write(app.archive(level: 1), to: "Harbour.ipa")
        try folder.write([], to: "out.txt")

        process = Process()
        process.executableURL = URL(fileURLWithPath: Self.command)
        process.arguments = [
            "serve", "--to", target, "--listen", "127.0.0.1:0", "--p12",
            folder.path("good.p12"),
            "--password-file", folder.path("password.txt"), "--profile", folder.path("good.mobileprovision"),
        ]
        process.currentDirectoryURL = folder.url
        process.environment = [
            "HOME": folder.path, "PATH": "/usr/bin:/bin", "XDG_STATE_HOME": folder.path("state"),
            "XDG_CACHE_HOME": folder.path("cache"), "XDG_CONFIG_HOME": folder.path("config"),
        ]
        let output = try FileHandle(forWritingTo: folder.url.appendingPathComponent("out.txt"))
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
    }

    /// All that it has said.
    var words: String { (try? String(decoding: folder.read("out.txt"), as: UTF8.self)) ?? "" }

    /// The address that it prints once it listens.
    func address() async throws -> String {
        while process.isRunning {
            let lines = words.split(separator: "\n", omittingEmptySubsequences: false)
            // The last one may not be whole yet.
            if let line = lines.dropLast().first(where: { $0.contains("#token=") }) { return String(line) }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw ToolFailure("ferry serve has ended: \(words)")
    }

    func stop() {
        process.interrupt()
        process.waitUntilExit()
    }
}
