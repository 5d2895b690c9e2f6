import FerryBytes
import FerrySample
import Foundation
import TestKit
import Testing

/// A token in software (SoftHSM) with the kit's key in it, under the name `dev`, and its certificate where there is a tool
/// that can put it there.
private struct SoftToken: Sendable {
    static let library = "/usr/lib/softhsm/libsofthsm2.so"
    static let pin = "271828"
    static let exists =
        Tool("softhsm2-util") != nil && FileManager.default.fileExists(atPath: library)
        && ["x86_64", "aarch64"].contains { machine in
            FileManager.default.fileExists(atPath: "/usr/lib/\(machine)-linux-gnu/engines-3/pkcs11.so")
        }
    static let absent = "softhsm2 or libengine-pkcs11-openssl is not installed"

    let folder: TemporaryFolder
    let ferry: Command
    let hasCertificate: Bool

    init() throws {
        folder = try TemporaryFolder()
        ferry = try Command()
        try FileManager.default.createDirectory(atPath: folder.path("tokens"), withIntermediateDirectories: true)
        try folder.write(
            Array(
                "directories.tokendir = \(folder.path("tokens"))\nobjectstore.backend = file\nlog.level = ERROR\n".utf8
            ),
            to: "softhsm2.conf"
        )
        try folder.write(Array((Self.pin + "\n").utf8), to: "pin")
        let environment = ["SOFTHSM2_CONF": folder.path("softhsm2.conf")]
        func run(_ tool: String, _ arguments: [String]) throws {
            let result = try #require(Tool(tool)).run(arguments, environment: environment)
            try #require(result.status == 0, "\(result.errors)")
        }
        try run(
            "softhsm2-util",
            ["--init-token", "--free", "--label", "Signing", "--pin", Self.pin, "--so-pin", "314159"]
        )
        try run(
            "softhsm2-util",
            [
                "--import", ferry.kit.path("good.key"), "--token", "Signing", "--label", "dev", "--id", "01", "--pin",
                Self.pin,
            ]
        )
        hasCertificate = Tool("pkcs11-tool") != nil
        if hasCertificate {
            try run(
                "openssl",
                ["x509", "-in", ferry.kit.path("good.pem"), "-outform", "DER", "-out", folder.path("dev.der")]
            )
            try run(
                "pkcs11-tool",
                [
                    "--module", Self.library, "--login", "--pin", Self.pin, "--token-label", "Signing",
                    "--write-object",
                    folder.path("dev.der"), "--type", "cert", "--label", "dev", "--id", "01",
                ]
            )
        }
    }

    func run(_ arguments: [String], _ more: [String: String] = [:]) async throws -> Tool.Result {
        let environment = ["SOFTHSM2_CONF": folder.path("softhsm2.conf"), "FERRY_PKCS11_MODULE": Self.library]
        let result = try await ferry.run(arguments, environment: environment.merging(more) { $1 })
        #expect(!(result.text + result.errors).contains(Self.pin))
        return result
    }

    /// Options that name the key in the token and the certificate in a file.
    func hands(_ key: String = "pkcs11:token=Signing;object=dev") -> [String] {
        ["--certificate", ferry.kit.path("good.pem"), "--chain", ferry.kit.path("chain.pem"), "--key", key]
    }
}

@Suite(.serialized, .enabled(if: SoftToken.exists, "\(SoftToken.absent)"), .timeLimit(.minutes(10)))
struct `A key in a token` {
    @Test func `signs an archive, as openssl cms confirms`() async throws {
        let token = try SoftToken()
        let output = try token.ferry.out("signed.ipa")
        let signed = try await token.run(
            ["sign", token.ferry.kit.path("Harbour.ipa"), "-o", output] + token.hands() + [
                "--password-file", token.folder.path("pin"), "--profile", token.ferry.kit.path("good.mobileprovision"),
                "--json",
            ]
        )
        #expect(signed.status == 0, "\(signed.errors)")
        #expect(signed.errors == "")
        #expect(try await token.run(["verify", output]).status == 0)
        // Takes the code directory and the message out of the main executable.
        let script = """
            import struct, sys, zipfile
            archive = zipfile.ZipFile(sys.argv[1])
            code = archive.read("Payload/Harbour.app/Harbour")
            start = code.rfind(bytes.fromhex("fade0cc0"))
            count = struct.unpack_from(">I", code, start + 8)[0]
            for index in range(count):
                kind, offset = struct.unpack_from(">II", code, start + 12 + 8 * index)
                length = struct.unpack_from(">I", code, start + offset + 4)[0]
                blob = code[start + offset : start + offset + length]
                if kind == 0: open(sys.argv[2] + "/cd", "wb").write(blob)
                if kind == 0x10000: open(sys.argv[2] + "/cms", "wb").write(blob[8:])
            """
        let folder = token.folder.path
        let root = token.ferry.kit.path("chain.pem")
        try await onThread {
            let taken = try #require(Tool("python3")).run(["-c", script, output, folder])
            #expect(taken.status == 0, "\(taken.errors)")
            let verified = try #require(Tool("openssl")).run(
                [
                    "cms", "-verify", "-inform", "DER", "-in", "cms", "-content", "cd", "-binary", "-CAfile", root,
                    "-purpose", "any", "-out", "/dev/null", "-signer", "signer.pem",
                ],
                in: folder
            )
            #expect(verified.status == 0, "\(verified.errors)")
            let subject = try #require(Tool("openssl")).run(
                ["x509", "-in", "signer.pem", "-noout", "-subject"],
                in: folder
            )
            #expect(subject.text.contains("Apple Development: Ferry Demo"))
        }
    }

    @Test func `may be opened by a PIN of the environment, or of a file that its URI names`() async throws {
        let token = try SoftToken()
        let byVariable = try await token.run(["identity"] + token.hands(), ["FERRY_PIN": SoftToken.pin])
        #expect(byVariable.status == 0, "\(byVariable.errors)")
        #expect(byVariable.text.contains("key           EC P-256, in a token"))
        let file = "pkcs11:token=Signing;object=dev?pin-source=file:" + token.folder.path("pin")
        let byFile = try await token.run(["identity"] + token.hands(file))
        #expect(byFile.status == 0, "\(byFile.errors)")
        guard token.hasCertificate else { return }
        let both = try await token.run(["identity", file, "--chain", token.ferry.kit.path("chain.pem")])
        #expect(both.status == 0, "\(both.errors)")
        #expect(both.text == byFile.text)
    }

    @Test(
        arguments: [
            ("pkcs11:token=Signing;object=dev", "wrong", "PIN incorrect", "a token locks itself"),
            ("pkcs11:token=Signing;object=other", SoftToken.pin, "no private key is found", "pkcs11-tool"),
            ("pkcs11:token=Elsewhere;object=dev", SoftToken.pin, "no private key is found", "pkcs11-tool"),
            ("pkcs11:token=Signing;object=dev", "", "no private key is found", "whether it wants a PIN"),
            ("pkcs11:token=Signing;object=dev?pin-value=314159", "", "holds a PIN", "--password-file"),
        ]
    )
    func `that cannot be had is told with the reason`(
        key: String,
        pin: String,
        message: String,
        remedy: String
    ) async throws {
        let token = try SoftToken()
        let shown = try await token.run(["identity"] + token.hands(key), ["FERRY_PIN": pin])
        #expect(shown.status == 1)
        #expect(shown.text == "")
        #expect(shown.errors.contains(message), "\(shown.errors)")
        #expect(shown.errors.contains(remedy), "\(shown.errors)")
        #expect(!shown.errors.contains("314159"))
    }

    @Test func `whose library or driver is missing is told so`() async throws {
        let token = try SoftToken()
        let library = try await token.run(
            ["identity"] + token.hands(),
            ["FERRY_PIN": "1", "FERRY_PKCS11_MODULE": "/nowhere/lib.so"]
        )
        #expect(library.status == 1)
        #expect(library.errors.contains("/nowhere/lib.so cannot be read"))
        let driver = try await token.run(
            ["identity"] + token.hands(),
            ["FERRY_PIN": "1", "FERRY_OPENSSL_PROVIDER": "nonesuch"]
        )
        #expect(driver.status == 1)
        #expect(driver.errors.contains("provider “nonesuch” cannot be loaded"))
    }
}
