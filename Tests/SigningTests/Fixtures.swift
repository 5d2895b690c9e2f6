import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryPropertyList
import FerrySigning
import FerryZip
import Foundation
import TestKit
import Testing

/// An archive as a list, to be made or changed at will.
struct Archive: Sendable {
    struct Entry: Sendable {
        var name: String
        var mode: UInt16 = 0o100644
        var bytes: [UInt8]
    }

    var entries: [Entry] = []

    init() {}

    /// Reads one that was written.
    init(path: String) throws {
        let source = try FileSource(path: path)
        let inflater = Inflater()
        entries = try ZipDirectory(source).entries.map { entry in
            Entry(
                name: entry.name,
                mode: entry.unixMode ?? 0,
                bytes: try inflater.contents(of: entry, in: source)
            )
        }
    }

    subscript(name: String) -> [UInt8]? {
        get { entries.first { $0.name.utf8.elementsEqual(name.utf8) }?.bytes }
        set {
            if let index = entries.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
                if let newValue { entries[index].bytes = newValue } else { entries.remove(at: index) }
            } else if let newValue {
                let isCode = newValue.starts(with: [0xCF, 0xFA, 0xED, 0xFE]) || newValue.starts(with: [0xCA, 0xFE])
                entries.append(Entry(name: name, mode: isCode ? 0o100755 : 0o100644, bytes: newValue))
            }
        }
    }

    /// Adds a bundle with an executable `A` and an Info.plist.
    mutating func add(
        _ path: String,
        id: String?,
        code: [UInt8]? = TinyMachO().bytes,
        _ more: PropertyList.Dictionary = [:]
    ) {
        var info = more
        info["CFBundleIdentifier"] = id.map { .string($0) }
        info["CFBundleExecutable"] = "A"
        info["CFBundleShortVersionString"] = "1.2"
        info["CFBundleVersion"] = "3"
        self[path + "/Info.plist"] = PropertyList.dictionary(info).encoded(as: .binary)
        if let code { self[path + "/A"] = code }
    }

    func bytes() throws -> [UInt8] {
        var builder = ZipBuilder()
        for entry in entries {
            builder.add(entry.name, entry.mode, Deflate.encode(entry.bytes, level: 1))
        }
        return try builder.bytes()
    }

    /// An app with an extension, a framework, a loose library, and some resources.
    static func sample(_ change: (inout Archive) -> Void = { _ in }) -> Archive {
        var archive = Archive()
        archive.add(
            "Payload/A.app",
            id: "com.peer.bench",
            code: TinyMachO { $0.signatureRoom = 0x4000 }.bytes,
            ["CFBundleDisplayName": "Bench"]
        )
        archive["Payload/A.app/a.txt"] = Array("hello hello hello".utf8)
        archive["Payload/A.app/en.lproj/a.strings"] = Array("x".utf8)
        archive.entries.append(.init(name: "Payload/A.app/link", mode: 0o120777, bytes: Array("a.txt".utf8)))
        archive.add("Payload/A.app/PlugIns/W.appex", id: "com.peer.bench.w", code: TinyMachO { $0.seed = 2 }.bytes)
        archive.add(
            "Payload/A.app/Frameworks/F.framework",
            id: "com.peer.f",
            code: TinyMachO {
                $0.fileType = 6
                $0.seed = 3
            }.bytes
        )
        archive["Payload/A.app/x.dylib"] =
            TinyMachO {
                $0.fileType = 6
                $0.seed = 4
            }.bytes
        change(&archive)
        return archive
    }
}

/// What all tests here sign with.
enum Hands {
    static let usable = TestAuthority.exists
    /// A moment after the authority's certificates were made, the same in all tests.
    static let now = Int64(Date().timeIntervalSince1970) + 3600
    static let signer = Signer(threadCount: 2, now: { now })
    static let day: Int64 = 86400

    /// A signer at another date.
    static func signer(daysLater days: Int64) -> Signer {
        Signer(threadCount: 1, now: { now + days * day })
    }

    static func identity(_ name: String = "leaf") throws -> Identity {
        try Identity(pkcs12: TestAuthority.shared.get().file(name + ".p12"), password: Secret(TestAuthority.password))
    }

    static func profile(
        _ application: String = "*",
        signers: [String] = ["leaf"],
        expiresInDays days: Int64 = 300,
        debug: Bool = false,
        granting entitlements: [String] = [],
        asksForOwnIdentifier: Bool = false
    ) throws -> ProvisioningProfile {
        try ProvisioningProfile(
            bytes: TestAuthority.shared.get().profile(
                application,
                name: "Test \(application)",
                signers: signers,
                expires: now + days * day,
                debug: debug,
                granting: entitlements,
                asksForOwnIdentifier: asksForOwnIdentifier
            )
        )
    }

    /// Made once: each takes a process, for which a test's task would wait.
    private static let standardProfile = Result { try profile() }

    static func options(_ name: String = "leaf") throws -> SigningOptions {
        let profile = name == "leaf" ? try standardProfile.get() : try profile(signers: [name])
        return SigningOptions(identity: try identity(name), profiles: [profile])
    }
}

/// A folder with an archive in it, and what comes of signing it.
struct Desk {
    let folder: TemporaryFolder
    var input: String { folder.path("in.ipa") }
    var output: String { folder.path("out/out.ipa") }

    init(_ archive: Archive) throws {
        try self.init(archive.bytes())
    }

    init(_ bytes: [UInt8]) throws {
        folder = try TemporaryFolder()
        try folder.write(bytes, to: "in.ipa")
        try FileManager.default.createDirectory(atPath: folder.path("out"), withIntermediateDirectories: true)
    }

    @discardableResult
    func sign(_ options: SigningOptions, with signer: Signer = Hands.signer) async throws(SignError) -> SignedArchive {
        try await signer.sign(SigningRequest(input: input, output: output, options: options)).archive
    }

    /// The codes of the output's faults; warnings have a question mark behind them.
    func faults(with signer: Signer = Hands.signer) async throws -> Set<String> {
        Set(try await signer.verify(output).map { $0.code.rawValue + ($0.isWarning ? "?" : "") })
    }

    /// The names in the folder of the output.
    func leftovers() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path("out")).sorted()
    }
}

/// The judge that shares no code with us.
enum Oracle {
    private static let python = Tool(path: "/usr/bin/python3")
    static let absent = "shared/oracle, python3 with asn1crypto, or lld is missing"
    static let exists: Bool = {
        guard SharedFolder.exists, AppleTools.exist, TestAuthority.exists else { return false }
        return (try? python.run(["-c", "import asn1crypto.cms"]).status) == 0
    }()

    private struct Verdict: Decodable {
        struct Fault: Decodable {
            let code: String
            let `where`: String
            let detail: String
        }
        let faults: [Fault]
    }

    /// The faults that it finds in a signed archive, each with its place.
    ///
    /// - Parameter original: what it was before, which it must be like; `nil` where it was edited.
    static func faults(_ path: String, original: String?, id: String, team: String) throws -> [String] {
        let script = SharedFolder.path + "/oracle/verify_ipa.py"
        let before = original.map { ["--original", $0] } ?? []
        let judged = try python.run([script, path] + before + ["--id", id, "--team", team, "--json"])
        guard judged.status == 0 || judged.status == 1, !judged.output.isEmpty else { return [judged.errors] }
        return try JSONDecoder().decode(Verdict.self, from: Data(judged.output)).faults.map {
            "\($0.code) \($0.where) \($0.detail)"
        }
    }

    /// Runs one of the shared generators into a folder of its own.
    private static func generate(_ script: String, _ options: [String] = []) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let made = try python.run(
            [SharedFolder.path + "/" + script, folder.path] + options,
            environment: ["PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore"]
        )
        guard made.status == 0 else { throw ToolFailure(made.errors) }
        return folder
    }

    /// A small app, signed room and none, with certificates and profiles.
    static let bench = Result { try generate("bench/make_bench_ipa.py", ["--small"]) }
    /// Small archives, each odd in one way.
    static let edge = Result { try generate("corpus/make_edge_cases.py") }

    static func identity(_ name: String) throws -> Identity {
        try Identity(pkcs12: bench.get().read("certs/\(name).p12"), password: Secret("test"))
    }

    /// Profiles for one identifier each, made of the wildcard's by Python and openssl.
    static func profiles(for identifiers: [String]) throws -> [ProvisioningProfile] {
        let folder = try TemporaryFolder()
        let certificates = try bench.get().path("certs")
        let script = """
            import plistlib, subprocess, sys
            certs = sys.argv[1]
            wild = plistlib.load(open(certs + '/wild.plist', 'rb'))
            for number, identifier in enumerate(sys.argv[2:]):
                wild['Name'] = identifier
                wild['Entitlements']['application-identifier'] = wild['TeamIdentifier'][0] + '.' + identifier
                plistlib.dump(wild, open('profile.plist', 'wb'))
                subprocess.run(['openssl', 'cms', '-sign', '-nodetach', '-binary', '-outform', 'DER', '-in',
                    'profile.plist', '-signer', certs + '/wwdr.pem', '-inkey', certs + '/wwdr.key', '-certfile',
                    certs + '/root.pem', '-out', str(number)], check=True)
            """
        let made = try python.run(["-c", script, certificates] + identifiers, in: folder.path)
        guard made.status == 0 else { throw ToolFailure(made.errors) }
        return try identifiers.indices.map { number in
            try ProvisioningProfile(bytes: folder.read(String(number)), path: identifiers[number])
        }
    }

    static func profiles(_ names: [String]) throws -> [ProvisioningProfile] {
        try names.map { name in
            try ProvisioningProfile(bytes: bench.get().read("certs/\(name).mobileprovision"), path: name)
        }
    }
}
