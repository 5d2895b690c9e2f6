import FerryInstalling
import StandInDevice
import TestKit
import Testing

@testable import FerryDevice

@Suite(.timeLimit(.minutes(5)))
struct `Several installs at once` {
    @Test func `on one device do not get into each other's way`() async throws {
        let phone = try Harbour.phone()
        defer { phone.disconnect() }
        let names = (0..<6).map { "com.example.app\($0)" }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in names {
                group.addTask {
                    let archive = try phone.harbour.archive(for: phone.identifier, identifier: name)
                    _ = try await phone.install(archive).result.get()
                }
            }
            try await group.waitForAll()
        }
        #expect(Set(phone.apps.map(\.identifier)) == Set(names))
        let opened = phone.log.filter { $0.hasPrefix("open ") }
        #expect(opened.count == names.count && Set(opened).count == names.count)
        #expect(phone.leftovers == [])
    }

    @Test func `on several devices go to the right one each`() async throws {
        let phones = try (0..<4).map { _ in try Harbour.phone() }
        defer { for phone in phones { phone.disconnect() } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, phone) in phones.enumerated() {
                group.addTask {
                    let archive = try phone.harbour.archive(
                        for: phone.identifier,
                        identifier: "com.example.app\(index)"
                    )
                    _ = try await phone.install(archive).result.get()
                }
            }
            try await group.waitForAll()
        }
        for (index, phone) in phones.enumerated() {
            #expect(phone.apps.map(\.identifier) == ["com.example.app\(index)"])
            #expect(phone.leftovers == [])
        }
    }

    @Test func `of which one fails leave the others alone`() async throws {
        let phone = try Harbour.phone()
        defer { phone.disconnect() }
        async let bad = phone.install(phone.harbour.archive(for: phone.identifier, isSigned: false))
        async let good = phone.install(
            phone.harbour.archive(for: phone.identifier, identifier: "com.example.other", fillBytes: 3_000_000)
        )
        let (badEnding, goodEnding) = try await (bad, good)
        #expect(badEnding.error?.message.contains("is not signed") == true)
        _ = try goodEnding.result.get()
        #expect(phone.apps.map(\.identifier) == ["com.example.other"])
        #expect(phone.leftovers == [])
    }
}

@Suite(.timeLimit(.minutes(5)))
struct `A device that wants something of its owner` {
    @Test(arguments: [StandInFaults.Stranger.pending, .locked])
    func `is waited for, and the install goes on by itself`(stranger: StandInFaults.Stranger) async throws {
        let phone = try Harbour.phone { $0.faults.stranger = stranger }
        defer { phone.disconnect() }
        let wish = stranger == .locked ? "Unlock Anna's iPhone" : "Tap Trust on Anna's iPhone"
        let ending = try await phone.install(trustLimit: .seconds(60)) { event in
            // Somebody sees it, and does it.
            if event == .step(wish) { phone.set { $0.stranger = .trusted } }
        }
        _ = try ending.result.get()
        #expect(ending.steps.prefix(2) == [wish, "Uploading"])
    }

    @Test func `is waited for no longer once the owner says no`() async throws {
        let phone = try Harbour.phone { $0.faults.stranger = .pending }
        defer { phone.disconnect() }
        let ending = try await phone.install(trustLimit: .seconds(60)) { event in
            if case .step = event { phone.set { $0.stranger = .denied } }
        }
        #expect(ending.error?.message.contains("should not trust this computer") == true)
    }

    @Test func `is waited for no longer once the install is cancelled, or the time is over`() async throws {
        let phone = try Harbour.phone { $0.faults.sessionError = "PasswordProtected" }
        defer { phone.disconnect() }
        let over = try await phone.install(trustLimit: .seconds(1))
        #expect(over.steps == ["Unlock Anna's iPhone"])
        #expect(over.error?.message == "Anna's iPhone is locked.")
        let (steps, sink) = AsyncStream.makeStream(of: InstallEvent.self)
        let task = Task { try await phone.install(trustLimit: .seconds(3600)) { sink.yield($0) } }
        for await _ in steps { break }
        task.cancel()
        #expect(try await task.value.error?.code == .cancelled)
    }
}
