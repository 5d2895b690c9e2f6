import FerryBytes
import FerryPropertyList
import Testing

@testable import FerryCodeSignature

@Suite struct `Entitlements in DER` {
    // Computed apart from this code, by X.690 §8 and the shape of CoreEntitlements version 1.
    @Test(
        arguments: [
            (["get-task-allow": true], "701a020101b01530130c0e6765742d7461736b2d616c6c6f770101ff"),
            (["n": 5], "700d020101b00830060c016e020105"),
            (["n": 128], "700e020101b00930070c016e02020080"),
            (["n": -129], "700e020101b00930070c016e0202ff7f"),
            (["b": ["x"], "a": false], "7017020101b01230060c016101010030080c016230030c0178"),
            ([:], "7005020101b000"),
        ] as [(PropertyList.Dictionary, String)]
    )
    func `have their shortest form and sorted keys`(entitlements: PropertyList.Dictionary, expected: String) throws {
        let bytes = try EntitlementsDER.encoded(entitlements)
        #expect(bytes.hex == expected)
        #expect(try EntitlementsDER.decoded(bytes[...]).sorted() == entitlements.sorted())
    }

    @Test(
        arguments: [
            ("a.b", ["a.b": 1.5]), ("list", ["list": [.data([1])]]), ("outer.inner", ["outer": ["inner": .data([])]]),
        ] as [(String, PropertyList.Dictionary)]
    )
    func `refuse what has no form, naming it`(key: String, entitlements: PropertyList.Dictionary) {
        let error = #expect(throws: CodeSignatureError.self) { try EntitlementsDER.encoded(entitlements) }
        #expect(error?.code == .entitlement)
        #expect(error?.message.contains(key) == true)
    }

    @Test(arguments: [
        // The version 0 form, a bare SET; a number as `02 05 05` was once written; keys out of order; cut short.
        "3108 3006 0c016e 020105", "700e020101b0093007 0c016e 02020005",
        "7017020101b012 3008 0c016230030c0178 3006 0c0161010100", "700d020101b00830060c016e0201", "", "70",
        // A boolean of no byte and of two; a value too many behind a key.
        "700c020101b00730050c016e0100", "700e020101b00930070c016e0102ffff", "7010020101b00b30090c016e020105020106",
    ])
    func `are not read in any other form`(hex: String) throws {
        let bytes = try #require([UInt8](hex: hex.filter { $0 != " " }))
        #expect(throws: CodeSignatureError.self) { try EntitlementsDER.decoded(bytes[...]) }
    }

    @Test func `survive no cut and no trap`() throws {
        let bytes = try EntitlementsDER.encoded(["a": ["b": [1, "x", true]], "c": -70000])
        for length in 0..<bytes.count {
            #expect(throws: CodeSignatureError.self) { try EntitlementsDER.decoded(bytes[..<length]) }
        }
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                _ = try? EntitlementsDER.decoded(changed[...])
            }
        }
    }
}
