import FerryBytes
import Testing

@testable import FerryCodeSignature

@Suite struct `A PKCS#11 URI` {
    @Test(
        arguments: [
            ("pkcs11:token=Signing;object=dev", "pkcs11:token=Signing;object=dev", nil),
            ("pkcs11:", "pkcs11:", nil),
            ("PKCS11:id=%01%02", "PKCS11:id=%01%02", nil),
            ("pkcs11:object=a?pin-source=file:/run/pin", "pkcs11:object=a", "/run/pin"),
            ("pkcs11:object=a?pin-source=file:///run/pin", "pkcs11:object=a", "/run/pin"),
            ("pkcs11:object=a?pin-source=/run/my%20pin", "pkcs11:object=a", "/run/my pin"),
        ] as [(String, String, String?)]
    )
    func `names what is in a token, and where its PIN is`(text: String, path: String, pin: String?) throws {
        let uri = try TokenURI(text)
        #expect(uri.path == path)
        #expect(uri.pinFile == pin)
    }

    @Test(
        arguments: [
            ("pkcs11:object=a?pin-value=12345678", "holds a PIN"),
            ("pkcs11:object=a?pin-source=file:/x&PIN-VALUE=12345678", "holds a PIN"),
            ("pkcs11:object=a;pin-value=12345678", "holds a PIN"),
            ("pkcs11:object=a?module-path=/tmp/12345678.so", "names a module"),
            ("pkcs11:object=a?module-name=12345678", "names a module"),
            ("pkcs11:object=a?pin-source=%7C12345678", "no absolute path"),
            ("pkcs11:object=a?pin-source=https://12345678", "no absolute path"),
            ("pkcs11:object=a?pin-source=/run/%00", "percent-encoded"),
            ("pkcs11:object=a?pin-source=/run/%4", "percent-encoded"),
            ("pkcs11:object=a?colour=red", "unknown part, colour"),
            ("pkcs11:object", "not of the form"),
            ("pkcs11:=a", "not of the form"),
            ("/dev/key.pem", "does not begin with pkcs11:"),
        ]
    )
    func `that gives away a secret, chooses code, or is none is refused, and not repeated`(text: String, words: String)
    {
        let error = #expect(throws: CodeSignatureError.self) { try TokenURI(text) }
        #expect(error?.code == .token)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(error?.description.contains("12345678") == false)
        #expect(error?.remedy != nil)
    }

    @Test func `leads to the key and to the certificate beside it`() throws {
        let uri = try TokenURI("pkcs11:token=T;object=a;type=public")
        #expect(uri.typed("private") == "pkcs11:token=T;object=a;type=private")
        #expect(uri.typed("cert") == "pkcs11:token=T;object=a;type=cert")
    }
}
