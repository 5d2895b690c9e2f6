import FerryAPNs
import FerryLiveActivity
import FerryStandInAPNs
import Foundation
import TestKit
import Testing

@testable import FerryAPNsReporter

@Suite struct `An island's configuration` {
    private let folder: TemporaryFolder
    private let good = [
        "key": #""AuthKey.p8""#, "keyID": #""ABC123DEFG""#, "teamID": #""TEAM123456""#,
        "bundleID": #""app.example.installer""#, "environment": #""sandbox""#,
    ]

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(try StandInCredentials().providerKey, to: "AuthKey.p8")
    }

    private func read(_ changes: [String: String?] = [:]) throws -> IslandConfiguration {
        var fields = good
        for (key, value) in changes { fields[key] = value }
        let text = "{" + fields.map { "\"\($0)\": \($1)" }.joined(separator: ", ") + "}"
        return try IslandConfiguration(path: try folder.write(Array(text.utf8), to: "phone.json"))
    }

    @Test func `has defaults for what is not said`() throws {
        let configuration = try read()
        #expect(configuration.device == "phone")
        #expect(configuration.endpoint == .sandbox)
        #expect(configuration.pushesPerHour == 720)
        #expect(configuration.renewsSilently)
        #expect(!configuration.hearsWidget)
        #expect(configuration.words.language == "en")
        #expect(configuration.caFile == nil)
    }

    @Test func `means paths from its own folder`() throws {
        let configuration = try read(["caFile": #""ca.pem""#, "language": #""de""#, "pushesPerHour": "5"])
        #expect(configuration.caFile == folder.path("ca.pem"))
        #expect(configuration.words.language == "de")
        #expect(configuration.pushesPerHour == 5)
        #expect(try read(["caFile": #""/etc/ca.pem""#]).caFile == "/etc/ca.pem")
    }

    @Test func `sends to a server of one's own`() throws {
        let configuration = try read(["environment": nil, "host": #""localhost:2197""#])
        #expect(configuration.endpoint == .custom(host: "localhost", port: 2197))
        #expect(try read(["environment": nil, "host": #""localhost""#]).endpoint.port == 443)
    }

    @Test(
        arguments: [
            ("keyId", #""x""#, "keyId"), ("keyID", #""short""#, "key id"), ("teamID", #""short""#, "team id"),
            ("keyID", "7", "“keyID” is not a text"), ("bundleID", nil, "no “bundleID”"),
            ("bundleID", #""a b""#, "bundleID"),
            ("environment", #""test""#, "“production” or “sandbox”"), ("environment", nil, "“production” or “sandbox”"),
            ("host", #""localhost""#, "both"), ("pushesPerHour", "0", "a whole number from 1"),
            ("pushesPerHour", "1.5", "a whole number from 1"), ("pushesPerHour", #""9""#, "a whole number from 1"),
            ("renewsSilently", "1", "true or false"), ("proxy", #""nowhere""#, "phone.json"),
            ("key", #""missing.p8""#, "missing.p8"), ("device", "[]", "“device” is not a text"),
        ] as [(String, String?, String)]
    )
    func `says what is wrong with it`(key: String, value: String?, words: String) throws {
        let error = #expect(throws: APNsReporterError.self) { try read([key: value]) }
        #expect(error?.code == .configuration)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: ["", "[]", "nothing", "{", "\u{0}"]) func `is a JSON object`(text: String) throws {
        let path = try folder.write(Array(text.utf8), to: "phone.json")
        let error = #expect(throws: APNsReporterError.self) { try IslandConfiguration(path: path) }
        #expect(error?.message.contains("no JSON object") == true)
        #expect(error?.remedy != nil)
    }
}
