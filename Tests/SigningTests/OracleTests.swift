import FerryBytes
import FerryCodeSignature
import FerrySigning
import Foundation
import TestKit
import Testing

/// One of the shared edge cases.
private struct EdgeCase: Decodable, Sendable, CustomTestStringConvertible {
    let file: String
    let about: String
    let expect: String
    let id: String?
    let says: String

    var testDescription: String { "\(file): \(about)" }

    /// All of them; none where they cannot be made, which another test tells.
    static let all: [EdgeCase] = {
        guard Oracle.exists, let bytes = try? Oracle.edge.get().read("cases.json") else { return [] }
        return (try? JSONDecoder().decode([EdgeCase].self, from: Data(bytes))) ?? []
    }()
}

/// With what an edge case is signed.
private struct Hand: Sendable, CustomTestStringConvertible {
    /// The new identifier; `nil` keeps the old one.
    let identifier: String?
    let key: String
    /// Whether each bundle has a profile for its identifier alone; else one wildcard serves all.
    let isExact: Bool

    var testDescription: String {
        "\(identifier ?? "the same id"), \(key).p12, \(isExact ? "exact profiles" : "a wildcard profile")"
    }

    /// All of them with `FERRY_GRID`; else two that differ in everything, and from what each case is signed with anyhow.
    static let all: [Hand] = {
        guard ProcessInfo.processInfo.environment["FERRY_GRID"] == nil else {
            return ["com.new.id", nil].flatMap { identifier in
                ["dev", "dev-legacy-rc2"].flatMap { key in
                    [true, false].map { Hand(identifier: identifier, key: key, isExact: $0) }
                }
            }
        }
        return [
            Hand(identifier: "com.new.id", key: "dev-legacy-rc2", isExact: true),
            Hand(identifier: nil, key: "dev", isExact: true),
        ]
    }()
}

@Suite(.enabled(if: Oracle.exists, "\(Oracle.absent)"), .timeLimit(.minutes(10)))
struct `An archive that others made` {
    @Test func `comes in many odd forms`() throws {
        _ = try Oracle.edge.get()
        #expect(EdgeCase.all.count >= 33)
        #expect(EdgeCase.all.filter { $0.expect == "sign" }.count >= 20)
    }

    @Test(arguments: EdgeCase.all)
    private func `is signed or refused as it must be`(edge: EdgeCase) async throws {
        let folder = try TemporaryFolder()
        let input = try Oracle.edge.get().path(edge.file)
        var options = SigningOptions(identity: try Oracle.identity("dev"), profiles: try Oracle.profiles(["wild"]))
        options.bundleIdentifier = edge.id
        let request = SigningRequest(input: input, output: folder.path("out.ipa"), options: options)
        guard edge.expect == "sign" else {
            let error = await #expect(throws: SignError.self) { try await Hands.signer.sign(request).archive }
            #expect(edge.says.isEmpty || error?.description.contains(edge.says) == true, "\(error?.description ?? "")")
            #expect(error?.message.contains(input) == true || error?.message.contains("Payload/") == true)
            #expect(try folder.contents() == [])
            return
        }
        let signed = try await Hands.signer.sign(request).archive
        #expect(try folder.contents() == ["out.ipa"])
        let faults = try await onThread {
            try Oracle.faults(
                signed.path,
                original: input,
                id: edge.id ?? "com.peer.bench",
                team: "PEERTEAM01"
            )
        }
        if edge.file == "windows-made.ipa" {
            // The judge wants executables that can be run and permissions as they were, which is none: only one of the
            // two can be, and a device wants the first.
            #expect(faults.allSatisfy { $0.hasPrefix("execute-permission-changed ") })
            #expect(faults.count == 2)
            let modes = try Archive(path: signed.path).entries.filter {
                $0.name.hasSuffix("/A") || $0.name.hasSuffix("/W")
            }
            #expect(modes.map(\.mode) == [0o100755, 0o100755])
        } else {
            #expect(faults == [])
        }
        #expect(try await Hands.signer.verify(signed.path) == [])
    }

    @Test(arguments: EdgeCase.all.filter { $0.expect == "sign" && $0.file != "windows-made.ipa" }, Hand.all)
    private func `has no fault, whoever signs it`(edge: EdgeCase, hand: Hand) async throws {
        let folder = try TemporaryFolder()
        let input = try Oracle.edge.get().path(edge.file)
        var options = SigningOptions(identity: try Oracle.identity(hand.key), profiles: try Oracle.profiles(["wild"]))
        options.bundleIdentifier = hand.identifier
        var request = SigningRequest(input: input, output: folder.path("out.ipa"), options: options)
        if hand.isExact {
            // Which identifiers there will be, the plan knows.
            let identifiers = try await Hands.signer.preview(request).bundles.filter { $0.profile != nil }
                .compactMap(\.identifier)
            request.options.profiles = try await onThread { try Oracle.profiles(for: identifiers) }
        }
        let signed = try await Hands.signer.sign(request).archive
        let faults = try await onThread {
            try Oracle.faults(
                signed.path,
                original: input,
                id: hand.identifier ?? "com.peer.bench",
                team: "PEERTEAM01"
            )
        }
        #expect(faults == [])
        #expect(try await Hands.signer.verify(signed.path) == [])
    }

    @Test(arguments: ["bench.ipa", "bench-unsigned.ipa"], ["dev", "dev-legacy-rc2"])
    func `is signed without a fault, whatever the profiles, identifiers and keys`(
        name: String,
        key: String
    ) async throws {
        let input = try Oracle.bench.get().path(name)
        for (id, profiles) in [("com.new.id", ["wild"]), (nil, ["main", "share", "widget"])] as [(String?, [String])] {
            let folder = try TemporaryFolder()
            var options = SigningOptions(identity: try Oracle.identity(key), profiles: try Oracle.profiles(profiles))
            options.bundleIdentifier = id
            options.verification = .full
            let request = SigningRequest(input: input, output: folder.path("out.ipa"), options: options)
            let signed = try await Hands.signer.sign(request).archive
            #expect(signed.identifier == id ?? "com.peer.bench")
            #expect(signed.signedFileCount == 7)
            let faults = try await onThread {
                try Oracle.faults(signed.path, original: input, id: signed.identifier, team: "PEERTEAM01")
            }
            #expect(faults == [])
            #expect(try await Hands.signer.verify(signed.path) == [])
        }
    }

    @Test func `and signed by Apple's tool has no fault but its age`() async throws {
        let faults = try await Hands.signer.verify(SharedFolder.corpus("fastlane-very-capable-app.ipa"))
        // It was made before there were DER entitlements, which is worth a warning.
        let codes = Set(faults.filter { !$0.isWarning }.map(\.code))
        #expect(codes.contains(.profileExpired))
        #expect(
            codes.isDisjoint(with: [
                .pageHash, .slotCount, .codeLimit, .infoPlistHash, .resourcesHash, .requirementsHash, .entitlementsHash,
                .entitlementsForm, .messageInvalid, .messageMissing, .messageDigests, .sealMissing, .sealedFileChanged,
                .sealedFileMissing, .fileNotSealed, .signatureMalformed, .signaturePlace, .identifier, .execSegment,
                .unsigned,
            ]),
            "\(faults)"
        )
    }
}
