import FerryBytes
import FerrySample
import Foundation
import Synchronization
import TestKit
import Testing

/// The files that the built command is given.
struct Kit: Sendable {
    static let password = "tr0ub4dor&3 sésame"
    static let shared = Result { try Kit() }

    private static let day: Int64 = 86400
    let folder: TemporaryFolder

    private init() throws {
        folder = try TemporaryFolder()
        let now = Int64(Date().timeIntervalSince1970)
        let good = try ThrowawayIdentity(notBefore: now - Self.day, notAfter: now + 300 * Self.day)
        try folder.write(good.p12(password: Secret(Self.password)), to: "good.p12")
        try folder.write(good.p12(password: Secret(Self.password), includesChain: false), to: "alone.p12")
        try folder.write(good.certificatePEM, to: "good.pem")
        try folder.write(good.keyPEM, to: "good.key")
        try folder.write(good.chainPEM, to: "chain.pem")
        try folder.write(Self.profile(good, now), to: "good.mobileprovision")
        try folder.write(Self.profile(good, now, devices: Self.devices), to: "device.mobileprovision")
        let expired = try ThrowawayIdentity(notBefore: now - 400 * Self.day, notAfter: now - 10 * Self.day)
        try folder.write(expired.p12(password: Secret(Self.password)), to: "expired.p12")
        try folder.write(Self.profile(expired, now), to: "expired.mobileprovision")
        try folder.write(Array((Self.password + "\n").utf8), to: "password.txt")
        try folder.write(Array("wrong\n".utf8), to: "wrong.txt")
        try folder.write(Array("<!DOCTYPE html><html><body>Please sign in.</body></html>".utf8), to: "page.ipa")

        var app = SampleApp()
        app.approximateBytes = 200_000
        try folder.write(app.archive(level: 1), to: "Harbour.ipa")
        var random = SeededGenerator(seed: 11)
        app.extraFiles = [.init(SampleApp.path + "/noise.bin", random.bytes(16 << 20))]
        try folder.write(app.archive(level: 1), to: "Heavy.ipa")
    }

    /// The devices that `device.mobileprovision` is for.
    static let devices = ["00008110-000A11223344801E", "00008030-000A11223344802E"]

    private static func profile(
        _ identity: ThrowawayIdentity,
        _ now: Int64,
        devices: [String]? = nil
    ) throws -> [UInt8] {
        try SampleProfile(
            team: identity.team,
            certificates: [identity.leafDER],
            devices: devices,
            creation: now - day,
            expiration: now + 200 * day
        ).signed(by: identity.authority)
    }

    func path(_ name: String) -> String { folder.path(name) }

    /// Options that sign with an identity of the kit, whose password is in a file.
    func hands(_ name: String = "good") -> [String] {
        [
            "--p12", path(name + ".p12"), "--password-file", path("password.txt"), "--profile",
            path((name == "alone" ? "good" : name) + ".mobileprovision"),
        ]
    }
}

/// The command as it was built, run with a home of its own.
///
/// Whatever it is asked to do, the password of the kit must not show anywhere: each run looks.
struct Command: Sendable {
    let kit: Kit
    let home: TemporaryFolder

    init() throws {
        kit = try Kit.shared.get()
        home = try TemporaryFolder()
    }

    /// SwiftPM builds it into the folder that the tests themselves run from.
    static let path = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appendingPathComponent("ferry").path

    var environment: [String: String] {
        [
            "HOME": home.path, "XDG_STATE_HOME": home.path("state"), "XDG_CACHE_HOME": home.path("cache"),
            "XDG_CONFIG_HOME": home.path("config"),
            "TMPDIR": home.path, "no_proxy": "*",
        ]
    }

    /// A place for results, outside of what the command keeps for itself.
    func out(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: home.path("out"), withIntermediateDirectories: true)
        return home.path("out/" + name)
    }

    /// Runs it to its end, on a thread that is no task's.
    func run(
        _ arguments: [String],
        input: String = "",
        environment more: [String: String] = [:]
    ) async throws -> Tool.Result {
        let result = try await onThread {
            try Tool(path: Self.path).run(
                arguments,
                input: Array(input.utf8),
                in: home.path,
                environment: environment.merging(more) { $1 }
            )
        }
        checkSecrets(result.text, result.errors)
        return result
    }

    /// Starts it.
    func start(_ arguments: [String], environment more: [String: String] = [:]) throws -> Running {
        try Running(arguments, environment.merging(more) { $1 }, in: home)
    }

    /// The password is nowhere.
    func checkSecrets(_ texts: String...) {
        for text in texts { #expect(!text.contains(Kit.password)) }
        for name in (try? home.contents()) ?? [] {
            #expect(!name.contains(Kit.password))
            let type = try? FileManager.default.attributesOfItem(atPath: home.path(name))[.type] as? FileAttributeType
            // Partial files are large, and not written by us; reading a pipe would wait.
            guard type == .typeRegular, !name.hasSuffix(".part"), let bytes = try? home.read(name) else { continue }
            #expect(!bytes.has(Kit.password), "\(name)")
        }
    }

    /// The names of files below a folder of the home; none where there is no such folder.
    func files(in name: String) -> [String] {
        ((try? FileManager.default.subpathsOfDirectory(atPath: home.path(name))) ?? []).sorted()
    }
}

/// The command while it runs. Its calls block, so use it on a thread of its own.
final class Running: Sendable {
    private let process: Guarded<Process>
    private let scratch: TemporaryFolder
    let identifier: pid_t

    /// What it left behind.
    struct End: Sendable {
        /// Its exit code; negative for the signal that ended it.
        let status: Int32
        let text: String
        let errors: String
    }

    init(_ arguments: [String], _ environment: [String: String], in folder: TemporaryFolder) throws {
        scratch = try TemporaryFolder()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Command.path)
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        try scratch.write([], to: "out")
        try scratch.write([], to: "err")
        process.standardOutput = try FileHandle(forWritingTo: scratch.url.appendingPathComponent("out"))
        process.standardError = try FileHandle(forWritingTo: scratch.url.appendingPathComponent("err"))
        try process.run()
        identifier = process.processIdentifier
        self.process = Guarded(process)
    }

    /// What it has printed so far.
    var text: String { String(decoding: (try? scratch.read("out")) ?? [], as: UTF8.self) }

    var isRunning: Bool { process.withLock { $0.isRunning } }

    /// What it has said on its standard error until now.
    var errors: String { String(decoding: (try? scratch.read("err")) ?? [], as: UTF8.self) }

    /// Whether it has a file open whose path begins like that, with or without a name.
    func hasOpen(_ prefix: String) -> Bool {
        let folder = "/proc/\(identifier)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.contains { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + name))?.hasPrefix(prefix) == true
        }
    }

    /// Waits, with the processor busy, until it is so; `false` where the process ended before.
    func waits(for isSo: () -> Bool) -> Bool {
        while !isSo() {
            guard isRunning else { return false }
            usleep(500)
        }
        return true
    }

    /// Sends a signal and waits for the end.
    func end(with signal: Int32) throws -> End {
        kill(identifier, signal)
        return try result()
    }

    /// Waits for the end.
    func result() throws -> End {
        let status = process.withLock { process in
            process.waitUntilExit()
            return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        }
        return End(
            status: status,
            text: String(decoding: try scratch.read("out"), as: UTF8.self),
            errors: String(decoding: try scratch.read("err"), as: UTF8.self)
        )
    }
}

/// JSON by the judgement of Python.
enum Python {
    static let exists = Tool("python3") != nil

    /// How many lines there are, each a JSON object; fails where one is not.
    static func lines(_ bytes: [UInt8]) async throws -> Int {
        let script = "import json,sys; print(sum(isinstance(json.loads(l), dict) or sys.exit(l) for l in sys.stdin))"
        let result = try await onThread { try Tool("python3")?.run(["-c", script], input: bytes) }
        #expect(result?.status == 0, "\(result?.errors ?? "no python3") in \(String(decoding: bytes, as: UTF8.self))")
        return Int(result?.text.trimmingCharacters(in: .whitespacesAndNewlines) ?? "") ?? 0
    }

    /// The only line's value under a path of keys, as Python prints it: `bundles.0.path`.
    static func value(_ bytes: [UInt8], _ path: String) async throws -> String {
        let script = """
            import functools, json, sys
            value = json.loads(sys.stdin.read())
            for key in sys.argv[1].split("."):
                value = value[int(key)] if isinstance(value, list) else value[key]
            print(json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else value)
            """
        let result = try await onThread { try Tool("python3")?.run(["-c", script, path], input: bytes) }
        #expect(result?.status == 0, "\(path): \(String(decoding: bytes, as: UTF8.self))")
        return result?.text.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    }
}
