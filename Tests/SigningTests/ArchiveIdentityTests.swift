import FerryPropertyList
import FerrySample
import FerrySigning
import Foundation
import TestKit
import Testing

@Suite struct `What an archive's app calls itself` {
    private func identity(_ bytes: [UInt8]) throws -> ArchiveIdentity {
        let folder = try TemporaryFolder()
        return try ArchiveIdentity(of: folder.write(bytes, to: "a.ipa"), name: "Harbour")
    }

    private func sample(_ change: (inout SampleApp) -> Void = { _ in }) throws -> [UInt8] {
        var app = SampleApp()
        app.approximateBytes = 200_000
        change(&app)
        return try app.archive(level: 1)
    }

    @Test func `is in its Info.plist`() throws {
        let found = try identity(
            sample {
                $0.changeInfo = { info in
                    info["CFBundleShortVersionString"] = "1.2.3"
                    info["CFBundleVersion"] = "45"
                }
            }
        )
        #expect(found.identifier == "com.example.harbour")
        #expect(found.version == "1.2.3")
        #expect(found.build == "45")
    }

    @Test func `may be nothing`() throws {
        let found = try identity(
            sample {
                $0.changeInfo = { info in
                    info["CFBundleShortVersionString"] = nil
                    info["CFBundleVersion"] = nil
                }
            }
        )
        #expect(found.version == nil && found.build == nil)
    }

    @Test func `is not looked for in what is no archive`() throws {
        let error = #expect(throws: SignError.self) { try identity(Array("nothing".utf8)) }
        #expect(error?.message.hasPrefix("Harbour: ") == true)
    }
}
