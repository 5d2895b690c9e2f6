import FerryPropertyList
import FerrySample
import Foundation
import TestKit
import Testing

@Suite(.serialized, .enabled(if: Python.exists, "python3 is not installed"), .timeLimit(.minutes(10)))
struct `ferry profile` {
    private static let now = Int64(Date().timeIntervalSince1970)
    private static let day: Int64 = 86400

    /// Four profiles of four kinds, one of which has ended.
    private static func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let identity = try ThrowawayIdentity(notBefore: now - day, notAfter: now + 300 * day)
        func add(_ name: String, expires: Int64 = now + 40 * day + 7200, _ change: (inout SampleProfile) -> Void) throws
        {
            var profile = SampleProfile(
                name: name,
                appIDPattern: "com.example.\(name)",
                certificates: [identity.leafDER],
                creation: now - 50 * day,
                expiration: expires
            )
            change(&profile)
            try folder.write(profile.signed(by: identity.authority), to: name + ".mobileprovision")
        }
        try add("dev") { $0.devices = ["00008110-000000000000001E", "00008030-000000000000002E"] }
        try add("adhoc") {
            $0.devices = ["00008110-000000000000001E"]
            $0.entitlements["get-task-allow"] = false
        }
        try add("store") { $0.entitlements["get-task-allow"] = false }
        try add("house", expires: now - 3 * day) {
            $0.provisionsAllDevices = true
            $0.entitlements["get-task-allow"] = false
        }
        try folder.write(identity.certificatePEM, to: "signer.pem")
        try folder.write(Array("notes".utf8), to: "notes.txt")
        return folder
    }

    @Test func `says of one profile what Python reads in it`() async throws {
        let ferry = try Command()
        let folder = try Self.folder()
        let path = folder.path("dev.mobileprovision")
        let shown = try await ferry.run([
            "profile", path, "--json", "--devices", "--certificate", folder.path("signer.pem"),
        ])
        #expect(shown.status == 0, "\(shown.errors)")
        #expect(try await Python.lines(shown.output) == 1)
        let report = try ferry.home.write(shown.output, to: "report.json")
        let script = """
            import datetime, json, plistlib, subprocess, sys
            profile = json.load(open(sys.argv[2]))["profiles"][0]
            plist = plistlib.loads(subprocess.run(["openssl", "cms", "-verify", "-noverify", "-inform", "DER", "-in", sys.argv[1]],
                capture_output=True, check=True).stdout)
            date = lambda key: plist[key].strftime("%Y-%m-%dT%H:%M:%SZ")
            left = (plist["ExpirationDate"] - datetime.datetime.utcnow()).days
            expected = {
                "name": plist["Name"], "uuid": plist["UUID"], "team": plist["TeamIdentifier"][0],
                "teamName": plist["TeamName"], "platforms": plist["Platform"], "created": date("CreationDate"),
                "expires": date("ExpirationDate"), "devices": plist["ProvisionedDevices"],
                "deviceCount": len(plist["ProvisionedDevices"]), "entitlements": plist["Entitlements"],
                "applicationIdentifier": plist["Entitlements"]["application-identifier"], "kind": "development",
                "daysLeft": left, "isExpired": False, "isSigned": True, "hasCertificate": True, "path": sys.argv[1],
            }
            wrong = {key: (profile.get(key), value) for key, value in expected.items() if profile.get(key) != value}
            print(wrong)
            sys.exit(bool(wrong))
            """
        let judged = try await onThread {
            try #require(Tool("python3")).run(["-W", "ignore", "-c", script, path, report])
        }
        #expect(judged.status == 0, "\(judged.text)\(judged.errors)")
    }

    @Test func `shows one in full, and several as a table`() async throws {
        let ferry = try Command()
        let folder = try Self.folder()
        let one = try await ferry.run(["profile", folder.path("adhoc.mobileprovision")])
        #expect(one.status == 0)
        #expect(
            one.text.hasPrefix(
                "adhoc\n  file          \(folder.path("adhoc.mobileprovision"))\n  kind          ad hoc\n"
            )
        )
        #expect(one.text.contains("\n  app id        FERRYDEMO1.com.example.adhoc\n"))
        #expect(one.text.contains("\n  devices       1\n"))
        #expect(one.text.contains(", 40 days left\n"))
        #expect(one.text.contains("get-task-allow = false"))
        #expect(!one.text.contains("00008110"))
        let all = try await ferry.run([
            "profile", folder.path, "--device", "00008030-000000000000002e", "--certificate", folder.path("signer.pem"),
        ])
        #expect(all.status == 0)
        let rows = all.text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(rows[0] == ["NAME", "KIND", "APP", "ID", "DEVICES", "LEFT", "DEVICE", "SIGNER", "FILE"])
        #expect(rows[1].prefix(8) == ["adhoc", "ad", "hoc", "FERRYDEMO1.com.example.adhoc", "1", "40", "d", "no"])
        #expect(
            rows[2].prefix(8) == ["dev", "development", "FERRYDEMO1.com.example.dev", "2", "40", "d", "yes", "yes"]
        )
        #expect(
            rows[3].prefix(7) == [
                "house", "enterprise", "FERRYDEMO1.com.example.house", "all", "expired", "yes", "yes",
            ]
        )
        #expect(
            rows[4].prefix(8) == ["store", "App", "Store", "FERRYDEMO1.com.example.store", "none", "40", "d", "no"]
        )
        #expect(rows.count == 5)
        let long = try await ferry.run(["profile", folder.path, "--long", "--devices"])
        #expect(long.text.contains("\n                00008030-000000000000002E\n"))
        #expect(long.text.contains("✗ expired 3 days ago") || long.text.contains("✗ expired 4 days ago"))
    }

    @Test func `shows the rest where some are damaged, and ends with 1`() async throws {
        let ferry = try Command()
        let folder = try Self.folder()
        let whole = try folder.read("dev.mobileprovision")
        try folder.write(whole.prefix(700), to: "cut.mobileprovision")
        try folder.write(whole + Array("\n-- trailing junk --\n".utf8), to: "junk.mobileprovision")
        let shown = try await ferry.run(["profile", folder.path, folder.path("missing.mobileprovision")])
        #expect(shown.status == 1)
        #expect(shown.text.split(separator: "\n").count == 6)
        #expect(shown.text.contains("junk.mobileprovision"))
        #expect(shown.errors.contains(folder.path("cut.mobileprovision") + ": this is no provisioning profile."))
        #expect(shown.errors.contains(folder.path("missing.mobileprovision") + ": cannot open"))
        let data = try await ferry.run(["profile", folder.path, "--json"])
        #expect(data.status == 1)
        #expect(data.errors == "")
        #expect(try await Python.value(data.output, "problems.0.code") == "profileUnreadable")
        #expect(try await Python.value(data.output, "profiles.4.name") == "store")
        let empty = try await ferry.run(["profile", ferry.home.path])
        #expect(empty.status == 1)
        #expect(empty.errors.contains("there is no profile in this folder"))
    }

    @Test(.enabled(if: SharedFolder.exists, "\(SharedFolder.absent)"))
    func `reads what others made, XML and binary`() async throws {
        let ferry = try Command()
        let shown = try await ferry.run(["profile", SharedFolder.corpus("appinfo-bplist.mobileprovision"), "--json"])
        #expect(shown.status == 0)
        #expect(try await Python.value(shown.output, "profiles.0.kind") == "enterprise")
        #expect(try await Python.value(shown.output, "profiles.0.isExpired") == "true")
    }

    /// Binary property lists can hold any number for a date.
    @Test(arguments: [1e300, -1e300, 9.3e18, -6.3e10, 2.6e11]) func `bears dates that no calendar has`(
        date: Double
    ) async throws {
        let ferry = try Command()
        let list = PropertyList.dictionary([
            "Name": "Odd", "Entitlements": ["application-identifier": "T.*"],
            "ExpirationDate": .date(PropertyListDate(secondsSince2001: date)),
            "CreationDate": .date(PropertyListDate(secondsSince2001: date)),
        ])
        let path = try ferry.home.write(list.encoded(as: .binary), to: "odd.mobileprovision")
        for more in [[], ["--json"]] {
            let shown = try await ferry.run(["profile", path] + more)
            #expect(shown.status == 0, "\(shown.errors)")
        }
    }
}
