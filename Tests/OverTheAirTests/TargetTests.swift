import FerryBytes
import FerryInstalling
import TestKit
import Testing

@testable import FerryOverTheAir

@Suite(.timeLimit(.minutes(5)), .enabled(if: AirServer.hasCurl, "\(AirServer.absent)"))
struct `An install over the air` {
    private func target(_ air: AirServer, _ offered: AsyncStream<AirLink>.Continuation) -> OverTheAirTarget {
        OverTheAirTarget(
            air.book,
            seconds: 3600,
            address: { "https://ferry.example/i/\($0.secret)/" },
            icons: { _ in [] },
            offered: { offered.yield($0) }
        )
    }

    @Test func `ends when all was sent, and tells how it went`() async throws {
        let air = try AirServer()
        let (links, sink) = AsyncStream<AirLink>.makeStream()
        let installer = Installer(target: target(air, sink))
        let installation = await installer.install(try air.archive(), as: "job")
        var offered = links.makeAsyncIterator()
        let link = try #require(await offered.next())
        #expect(link.install == "job")
        _ = try await air.curl("/i/\(link.secret)/manifest.plist")
        _ = try await air.curl("/i/\(link.secret)/app.ipa")
        let app = try await installation.app
        #expect(app.isOnlyDelivered && app.identifier == "com.example.harbour")
        #expect(app.location == "https://ferry.example/i/\(link.secret)/")
        var steps: [String] = []
        for await case .step(let step) in installation.events { steps.append(step) }
        #expect(steps.first == "Waiting for the phone")
    }

    @Test func `is installed when the app reports before it is seen to be delivered`() async throws {
        let air = try AirServer()
        let (links, sink) = AsyncStream<AirLink>.makeStream()
        let installation = await Installer(target: target(air, sink)).install(try air.archive(), as: "job")
        var offered = links.makeAsyncIterator()
        let link = try #require(await offered.next())
        #expect(try await air.status("/i/\(link.secret)/installed", ["-X", "POST"]) == "204")
        #expect(try await !installation.app.isOnlyDelivered)
    }

    @Test func `takes its link along when it is cancelled, and keeps it when the server stops`() async throws {
        let air = try AirServer()
        let (links, sink) = AsyncStream<AirLink>.makeStream()
        let installer = Installer(target: target(air, sink))
        var offered = links.makeAsyncIterator()
        let archive = try air.archive()
        let first = await installer.install(archive, as: "first")
        let link = try #require(await offered.next())
        first.cancel()
        await #expect(throws: InstallError.self) { try await first.app }
        #expect(try await air.status("/i/\(link.secret)/") == "410")

        let second = await installer.install(archive, as: "second")
        let kept = try #require(await offered.next())
        air.book.beginStop()
        second.cancel()
        await #expect(throws: InstallError.self) { try await second.app }
        #expect(try await air.status("/i/\(kept.secret)/") == "200")
        // The next start goes on with it.
        let next = try AirServer(in: air.folder)
        let again = await Installer(target: target(next, sink)).install(archive, as: "second")
        #expect(await offered.next()?.secret == kept.secret)
        _ = try await next.curl("/i/\(kept.secret)/app.ipa")
        #expect(try await again.app.isOnlyDelivered)
    }

    @Test func `follows a link that takes the place of its own`() async throws {
        let air = try AirServer()
        let (links, sink) = AsyncStream<AirLink>.makeStream()
        let installation = await Installer(target: target(air, sink)).install(try air.archive(), as: "job")
        var offered = links.makeAsyncIterator()
        let link = try #require(await offered.next())
        try await air.isFollowed(link)
        let renewed = try #require(try air.book.renew("job", seconds: 60))
        #expect(try await air.status("/i/\(link.secret)/app.ipa") == "410")
        try await air.isFollowed(renewed)
        _ = try await air.curl("/i/\(renewed.secret)/app.ipa")
        #expect(try await installation.app.location == "https://ferry.example/i/\(renewed.secret)/")
    }

    @Test func `fails when its link is revoked`() async throws {
        let air = try AirServer()
        let (links, sink) = AsyncStream<AirLink>.makeStream()
        let installation = await Installer(target: target(air, sink)).install(try air.archive(), as: "job")
        var offered = links.makeAsyncIterator()
        let link = try #require(await offered.next())
        try await air.isFollowed(link)
        #expect(air.book.revoke(link.secret))
        let error = await #expect(throws: InstallError.self) { try await installation.app }
        #expect(error?.code == .stalled)
    }

    @Test func `waits beside others, and fails when its link ends`() async throws {
        let air = try AirServer()
        let (links, sink) = AsyncStream<AirLink>.makeStream()
        let installer = Installer(target: target(air, sink))
        let archive = try air.archive()
        var installations: [Installation] = []
        var offered = links.makeAsyncIterator()
        var secrets: [String] = []
        for index in 0..<5 {
            installations.append(await installer.install(archive, as: "job-\(index)"))
            secrets.append(try #require(await offered.next()).secret)
        }
        air.date.advance(3600)
        air.book.sweep()
        for installation in installations {
            let error = await #expect(throws: InstallError.self) { try await installation.app }
            #expect(error?.code == .stalled)
            #expect(error?.message == "Harbour: the link ended before a phone had all of the app.")
        }
    }
}

@Suite struct `A QR code` {
    @Test func `says what it was made of`() throws {
        let code = try #require(QRCode("https://ferry.example/i/AAAAAAAAAAAAAAAAAAAAAA/"))
        // Finder patterns in three corners: 7 dark modules, from the first on.
        #expect(code.modules[..<7].allSatisfy(\.self) && !code.modules[7])
        #expect(code.svg.hasPrefix("<svg ") && code.svg.contains("viewBox=\"0 0 \(code.side + 8) \(code.side + 8)\""))
        #expect(QRCode(String(repeating: "a", count: 5000)) == nil)
    }
}
