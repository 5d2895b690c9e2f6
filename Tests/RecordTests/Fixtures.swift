import FerryActivity
import FerryRecord
import Foundation
import TestKit
import Testing

/// A folder that a record is opened in, again and again, and asked about by the program `sqlite3`.
struct Ledger: Sendable {
    let folder = try? TemporaryFolder()
    static let hasTool = Tool("sqlite3") != nil

    var path: String { folder?.path("record") ?? "" }
    var database: String { path + "/installs.sqlite" }

    func open(
        _ limits: RecordLimits = RecordLimits(),
        at date: Date = Date(timeIntervalSince1970: 1_800_000_000)
    ) async throws -> SQLiteRecord {
        try await SQLiteRecord(folder: path, limits: limits) { date }
    }

    /// What the program `sqlite3` prints.
    @discardableResult
    func ask(_ sql: String) async throws -> String {
        let database = database
        let tool = try #require(Tool("sqlite3"))
        let result = try await onThread { try tool.run([database], input: Array(sql.utf8)) }
        #expect(result.status == 0, "\(result.errors)")
        return result.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The names of what is in the folder.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    /// The names of databases that were set aside, without their logs.
    func databasesSetAside() throws -> [String] {
        try names().filter { $0.hasPrefix("installs.sqlite.") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
    }

    func leases() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path + "/runs").sorted()
    }

    static let file = RecordedFile(path: "/work/a.ipa", byteCount: 70_000, sha256: Array(0..<32), isOriginal: true)

    static func install(_ id: InstallID, _ source: String = "https://example.com/Harbour.ipa") -> RecordedInstall {
        RecordedInstall(
            id: id,
            request: RecordedRequest(
                source: RecordedSource(source),
                target: "folder:/srv/apps",
                options: ["--profile": ["/etc/a b.mobileprovision", "/etc/ü.mobileprovision"]]
            ),
            title: "Harbour.ipa",
            addedAt: Date(timeIntervalSince1970: 1_800_000_000)
        )
    }
}

extension SQLiteRecord {
    func add(_ install: RecordedInstall) async throws {
        try await add(install.id, install.request, title: install.title)
    }
}
