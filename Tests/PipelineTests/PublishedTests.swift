import FerryActivity
import FerryBytes
import FerryCatalog
import FerryDownload
import FerryPipeline
import FerrySigning
import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `An install from a source` {
    private static func published(_ change: (inout PublishedArchive) -> Void = { _ in }) throws -> PublishedArchive {
        var published = PublishedArchive(identifier: "com.example.harbour")
        published.version = "1.2"
        published.byteCount = Int64(try Cargo.small.get().count)
        change(&published)
        return published
    }

    @Test func `goes on where the archive is what the source says`() async throws {
        let bytes = try Cargo.small.get()
        let sum = try #require(Tool("sha256sum"))
        let digest = try await onThread { try sum.run([], input: bytes).text.prefix(64) }
        let quay = try Quay(bytes)
        let wharf = try await Wharf()
        let id = try await wharf.submit(quay.url) { request in
            request.published = try? Self.published { $0.sha256 = [UInt8](hex: String(digest)) }
        }
        #expect(try await wharf.pipeline.result(of: id).location.hasSuffix("Harbour.app"))
        _ = await wharf.end()
    }

    @Test(arguments: PublishedArchive.Trait.allCases)
    func `ends before anything is signed where it is not`(trait: PublishedArchive.Trait) async throws {
        let quay = try Quay(Cargo.small.get())
        let wharf = try await Wharf()
        let published = try Self.published { published in
            switch trait {
            case .identifier: published.identifier = "com.example.other"
            case .version: published.version = "1.3"
            case .build: published.build = "999"
            case .size: published.byteCount = 5
            case .sha256: published.sha256 = [UInt8](repeating: 7, count: 32)
            }
        }
        let id = try await wharf.submit(quay.url) { request in
            request.title = "Harbour"
            request.published = published
        }
        let error = await #expect(throws: (any Error).self) { try await wharf.pipeline.result(of: id) }
        let explained = try #require(error as? any ExplainedError)
        let length = try Cargo.small.get().count
        switch trait {
        case .identifier:
            #expect(
                explained.message
                    == "Harbour: the source says identifier com.example.other, the archive has com.example.harbour."
            )
        case .version: #expect(explained.message == "Harbour: the source says version 1.3, the archive has 1.2.")
        case .build: #expect(explained.message.hasPrefix("Harbour: the source says build 999, the archive has "))
        case .size:
            #expect(explained.message.contains("5 bytes were expected, but the file has \(length)."))
            #expect(explained.remedy?.contains("--allow-mismatch size") == true)
        case .sha256: #expect((error as? DownloadError)?.code == .checksumMismatch)
        }
        #expect(try wharf.files(in: "apps") == [])
        #expect(try wharf.files(in: "work") == [])
        let told = await wharf.end(id)
        #expect(!told.contains("signing"))
    }

    @Test func `goes on with what is tolerated, and tells it`() async throws {
        let quay = try Quay(Cargo.small.get())
        let wharf = try await Wharf()
        let published = try Self.published { published in
            published.version = "1.3"
            published.byteCount = 5
            published.tolerated = [.version, .size]
        }
        let id = try await wharf.submit(quay.url) { request in
            request.title = "Harbour"
            request.published = published
        }
        _ = try await wharf.pipeline.result(of: id)
        let told = await wharf.end(id)
        #expect(told.contains("note: Harbour: the source says version 1.3, the archive has 1.2."), "\(told)")
    }

    @Test func `of something that is no app says so`() async throws {
        let quay = try Quay(Array("no archive".utf8))
        let wharf = try await Wharf()
        let published = try Self.published { $0.byteCount = nil }
        let id = try await wharf.submit(quay.url) { request in
            request.title = "Harbour"
            request.published = published
        }
        let error = await #expect(throws: SignError.self) { try await wharf.pipeline.result(of: id) }
        #expect(error?.message.hasPrefix("Harbour: ") == true)
        _ = await wharf.end()
    }
}
