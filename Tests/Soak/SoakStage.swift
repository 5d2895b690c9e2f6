import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryInstalling
import FerryPipeline
import FerryRecord
import FerrySample
import FerrySigning
import Foundation
import TestKit

/// The folder of one soak, and what is the same for all of its processes.
struct SoakStage: Sendable {
    /// The signers' date: a signature depends on nothing else that changes.
    static let now: Int64 = 1_780_000_000
    /// How many archives there are; neighbours have another one each, so that a mix-up shows.
    static let variants = 3
    private static let day: Int64 = 86400
    private static let password = Secret("soak")

    let folder: String

    var record: String { folder + "/record" }
    var apps: String { folder + "/apps" }
    var files: InstallFiles { InstallFiles(workFolder: folder + "/work", partialFolder: folder + "/partial") }

    /// Makes all that is needed, and gives the archives.
    func prepare() throws -> [[UInt8]] {
        for name in ["work", "partial", "locks", "added"] {
            try FileManager.default.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: true)
        }
        // Of RSA, whose signatures are the same each time.
        let hands = try ThrowawayIdentity(
            keyKind: .rsa2048,
            notBefore: Self.now - Self.day,
            notAfter: Self.now + 300 * Self.day
        )
        let profile = SampleProfile(
            team: hands.team,
            certificates: [hands.leafDER],
            creation: Self.now - Self.day,
            expiration: Self.now + 200 * Self.day
        )
        try WholeFile.write(hands.p12(password: Self.password), to: folder + "/hands.p12")
        try WholeFile.write(profile.signed(by: hands.authority), to: folder + "/wild.mobileprovision")
        return try (0..<Self.variants).map { variant in
            let path = archive(variant)
            var random = SeededGenerator(seed: UInt64(variant))
            var app = SampleApp()
            app.approximateBytes = 100_000
            app.extraFiles = [.init(SampleApp.path + "/noise.bin", random.bytes(200_000))]
            let bytes = try app.archive(level: 1)
            try WholeFile.write(bytes, to: path)
            return bytes
        }
    }

    /// The archive of that number.
    func archive(_ number: Int) -> String { folder + "/\(number % Self.variants).ipa" }

    /// The identity and the profile, as each process reads them.
    func hands() throws -> SigningOptions {
        SigningOptions(
            identity: try Identity(
                pkcs12: try WholeFile.read(folder + "/hands.p12", limit: 1 << 20),
                password: Self.password
            ),
            profiles: [
                try ProvisioningProfile(bytes: try WholeFile.read(folder + "/wild.mobileprovision", limit: 1 << 20))
            ]
        )
    }

    /// What the app of that number is called at its place.
    static func identifier(_ number: Int) -> String { "com.example.soak\(number)" }

    /// The request of that number.
    func request(_ number: Int, port: Int, _ hands: SigningOptions) -> InstallRequest {
        var options = hands
        options.recipe.bundleIdentifier = Self.identifier(number)
        let source = "http://127.0.0.1:\(port)/\(number).ipa"
        var request = InstallRequest(source: source, signing: options)
        request.title = "\(number)"
        request.signingFingerprint = "\(number)"
        request.recorded = RecordedRequest(
            source: RecordedSource(source),
            target: "folder:" + apps,
            options: ["number": ["\(number)"]]
        )
        return request
    }

    /// Adds a line to a file; whole, whoever else writes.
    func log(_ line: String, to name: String) {
        let descriptor = open(folder + "/" + name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return }
        let bytes = Array((line + "\n").utf8)
        _ = write(descriptor, bytes, bytes.count)
        close(descriptor)
    }

    /// The lines of such a file.
    func lines(of name: String) -> [String] {
        let bytes = (try? Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))) ?? Data()
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

extension RecordedInstall {
    /// Its number in the soak.
    var number: Int? { request.options["number"]?.first.flatMap { Int($0) } }
}
