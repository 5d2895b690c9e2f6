import FerryActivity
import FerryRecord
import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Ledger.hasTool, "sqlite3 is not installed"), .timeLimit(.minutes(5)))
struct `A database` {
    /// What went wrong with it.
    enum Harm: String, CaseIterable {
        case garbage
        case cutInTheHeader
        case cutInHalf
        case wrongPage
        case somebodyElses
        case newer
    }

    private func harm(_ ledger: Ledger, _ harm: Harm) async throws {
        let url = URL(fileURLWithPath: ledger.database)
        var bytes = [UInt8](try Data(contentsOf: url))
        switch harm {
        case .garbage:
            var random = SeededGenerator(seed: 3)
            bytes = random.bytes(10_000)
        case .cutInTheHeader: bytes = Array(bytes.prefix(50))
        case .cutInHalf: bytes = Array(bytes.prefix(bytes.count / 2))
        case .wrongPage:
            // Everything behind the first page, where the tables' roots are.
            for index in 4096..<bytes.count { bytes[index] = 0xA5 }
        case .somebodyElses:
            try FileManager.default.removeItem(at: url)
            try await ledger.ask("CREATE TABLE boats (name TEXT); INSERT INTO boats VALUES ('Ferry');")
            return
        case .newer:
            try await ledger.ask("PRAGMA user_version = 99; ALTER TABLE install ADD COLUMN wings INTEGER;")
            return
        }
        try Data(bytes).write(to: url)
    }

    @Test(arguments: Harm.allCases) func `that is of no use is set aside, and said so`(_ harm: Harm) async throws {
        let ledger = Ledger()
        let first = try await ledger.open()
        for number in 0..<50 { try await first.add(Ledger.install(InstallID("\(number)"))) }
        await first.close()
        try await self.harm(ledger, harm)
        let before = try Data(contentsOf: URL(fileURLWithPath: ledger.database))

        let second = try await ledger.open()
        let notice = try #require(second.notice)
        let aside = try #require(try ledger.databasesSetAside().first)
        #expect(notice.contains(aside))
        #expect(notice.contains(harm == .newer ? "version 99" : "damaged"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: ledger.path + "/" + aside)) == before)
        #expect(try await second.installs(all: true) == [])
        try await second.add(Ledger.install("new"))
        await second.close()

        let third = try await ledger.open()
        #expect(third.notice == nil)
        #expect(try await third.installs(all: true).map(\.id) == ["new"])
        await third.close()

        // A second one of the same second does not take the first one's name.
        try await self.harm(ledger, harm)
        let fourth = try await ledger.open()
        #expect(fourth.notice != nil)
        #expect(try ledger.databasesSetAside().count == 2)
        await fourth.close()
    }

    @Test func `that is set aside takes its log along`() async throws {
        let ledger = Ledger()
        let first = try await ledger.open()
        try await first.add(Ledger.install("one"))
        await first.close()
        try await ledger.ask("PRAGMA user_version = 99;")
        // A log as a killed process leaves it, which a new database beside it would take for its own.
        let tool = try #require(Tool("sqlite3"))
        let script =
            "PRAGMA wal_autocheckpoint = 0; INSERT INTO install (id, request, title, stage, added_at, changed_at)"
            + " VALUES ('late', '{}', 'x', 'waiting', 1, 1);\n.shell kill -9 $PPID\n"
        let database = ledger.database
        _ = try await onThread { try tool.run([database], input: Array(script.utf8)) }
        try #require(try ledger.names().contains("installs.sqlite-wal"))

        let second = try await ledger.open()
        #expect(second.notice?.contains("version 99") == true)
        #expect(try await second.installs(all: true) == [])
        await second.close()
        let aside = try #require(try ledger.databasesSetAside().first)
        let asidePath = ledger.path + "/" + aside
        let result = try await onThread { try tool.run([asidePath, "SELECT count(*) FROM install"]) }
        #expect(result.text == "2\n")
    }

    @Test func `that was never written to is no damage`() async throws {
        let ledger = Ledger()
        try FileManager.default.createDirectory(atPath: ledger.path, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: ledger.database))
        let record = try await ledger.open()
        #expect(record.notice == nil)
        try await record.add(Ledger.install("one"))
        await record.close()
        #expect(try await ledger.ask("PRAGMA integrity_check;") == "ok")
    }

    @Test func `in a folder that cannot be written to is an error that names it`() async throws {
        guard SmallDisk.isPossible else { return print("skipped: \(SmallDisk.absent)") }
        let disk = try SmallDisk("size=400k")
        try disk.makeReadOnly()
        let error = await #expect(throws: RecordError.self) {
            try await SQLiteRecord(folder: disk.path + "/record") { Date() }
        }
        #expect(error?.message.contains(disk.path) == true)
        #expect(error?.remedy != nil)
    }
}

@Suite(.enabled(if: Ledger.hasTool, "sqlite3 is not installed"), .timeLimit(.minutes(5)))
struct `A database of an older ferry` {
    /// As version 1 wrote it: `sqlite3 installs.sqlite .dump`, with the two numbers that a dump leaves out.
    private static let version1 = """
        PRAGMA application_id = 1181905529;
        PRAGMA user_version = 1;
        BEGIN TRANSACTION;
        CREATE TABLE install (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            request TEXT NOT NULL,
            title TEXT NOT NULL,
            bundle_id TEXT,
            app_version TEXT,
            stage TEXT NOT NULL,
            is_held INTEGER NOT NULL DEFAULT 0,
            is_cancelled INTEGER NOT NULL DEFAULT 0,
            revision INTEGER NOT NULL DEFAULT 0,
            runner TEXT,
            process INTEGER,
            download_path TEXT,
            download_bytes INTEGER,
            download_sha256 BLOB,
            download_is_original INTEGER,
            signed_path TEXT,
            signed_bytes INTEGER,
            signed_sha256 BLOB,
            signed_input_sha256 BLOB,
            signed_fingerprint TEXT,
            outcome TEXT,
            location TEXT,
            message TEXT,
            remedy TEXT,
            failed_stage TEXT,
            added_at INTEGER NOT NULL,
            changed_at INTEGER NOT NULL,
            finished_at INTEGER
        );
        INSERT INTO install VALUES(1,'old','{"options":{},"source":{"isShortened":false,"text":"a.ipa"},"target":"folder:x"}',
        'a.ipa',NULL,NULL,'downloading',1,0,3,'gone',77,'/w/a.ipa',5,X'00ff',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,
        NULL,NULL,1799999000000,1799999500000,NULL);
        COMMIT;
        """

    @Test func `is brought up to date with all that was in it`() async throws {
        let ledger = Ledger()
        try FileManager.default.createDirectory(atPath: ledger.path, withIntermediateDirectories: true)
        try await ledger.ask(Self.version1)
        let record = try await ledger.open()
        #expect(record.notice == nil)
        let install = try #require(try await record.installs(all: true).first)
        #expect(install.id == "old")
        #expect(install.request.target == "folder:x")
        #expect(install.isHeld)
        #expect(install.process == nil)
        #expect(install.starts == 0)
        #expect(install.progress == nil)
        #expect(install.download?.sha256 == [0, 0xFF])
        #expect(install.changedAt == Date(timeIntervalSince1970: 1_799_999_500))
        #expect(try await record.claim("old").starts == 1)
        record.note(.bytes(1, of: 2), of: "old")
        await record.close()
        #expect(try await ledger.ask("PRAGMA user_version; SELECT completed, total FROM install;") == "2\n1|2")
    }
}
