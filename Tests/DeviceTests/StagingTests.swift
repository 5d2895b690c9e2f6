import Foundation
import StandInDevice
import TestKit
import Testing

@testable import FerryDevice

@Suite(.timeLimit(.minutes(5)))
struct `What an earlier install left on the device` {
    private static let old = Date(timeIntervalSinceNow: -25 * 60 * 60)

    /// Puts a file into the device's folder.
    private static func put(_ name: String, on phone: Phone, changed: Date = Date()) throws {
        let path = phone.file("PublicStaging/" + name)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("left".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.modificationDate: changed], ofItemAtPath: path)
    }

    private static func probe(_ phone: Phone, _ path: String) -> Process {
        let probe = Process()
        probe.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("ferry-device-probe")
        probe.arguments = [path, phone.identifier]
        probe.standardOutput = FileHandle.nullDevice
        return probe
    }

    private static func waits(_ condition: () -> Bool) async throws -> Bool {
        for _ in 0..<3000 {
            if condition() { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    @Test func `goes with the next one once its process was killed, and stays while that lives`() async throws {
        let phone = try Harbour.phone { $0.faults.stallsAfterStatus = "InstallingApplication" }
        defer { phone.disconnect() }
        let folder = try TemporaryFolder()
        let path = try folder.write(phone.harbour.archive(for: phone.identifier), to: "Harbour.ipa")
        let probe = Self.probe(phone, path)
        try probe.run()
        #expect(try await Self.waits { phone.log.contains("Install") })
        let left = phone.leftovers
        #expect(left.count == 1)
        phone.set { _ in }
        _ = try await phone.install().result.get()
        #expect(phone.leftovers == left)
        kill(probe.processIdentifier, SIGKILL)
        probe.waitUntilExit()
        #expect(phone.leftovers == left)
        _ = try await phone.install().result.get()
        #expect(phone.leftovers == [])
    }

    @Test func `goes with the next one of the same process, where the cable was pulled`() async throws {
        let phone = try Harbour.phone {
            $0.faults.endsAfterBytes = 300_000
            $0.faults.vanishes = true
        }
        #expect(try await phone.install().error != nil)
        #expect(phone.leftovers.count == 1)
        var again = StandInPhone(identifier: phone.identifier, name: "Anna's iPhone")
        again.system = "17.6"
        try phone.harbour.device.connect(again)
        defer { phone.disconnect() }
        _ = try await phone.install().result.get()
        #expect(phone.leftovers == [])
    }

    @Test func `by another computer goes when it is a day old, by the device's time`() async throws {
        let phone = try Harbour.phone()
        defer { phone.disconnect() }
        var elsewhere = StagedName().sender
        elsewhere.run ^= 1
        let (young, old) = (StagedName(sender: elsewhere, random: 1), StagedName(sender: elsewhere, random: 2))
        try Self.put(young.text, on: phone)
        try Self.put(old.text, on: phone, changed: Self.old)
        try Self.put("ferry-x.ipa", on: phone, changed: Self.old)
        try Self.put("com.example.other.ipa", on: phone, changed: Self.old)
        _ = try await phone.install().result.get()
        #expect(phone.leftovers == ["PublicStaging/com.example.other.ipa", "PublicStaging/" + young.text])
    }

    @Test func `is nothing to fail for, where the device does not show its folder or let go of a file`() async throws {
        let phone = try Harbour.phone()
        defer { phone.disconnect() }
        // A folder that is not empty is not removed by the operation for files.
        try Self.put("ferry-x.ipa/file", on: phone)
        let time = [FileAttributeKey.modificationDate: Self.old]
        try FileManager.default.setAttributes(time, ofItemAtPath: phone.file("PublicStaging/ferry-x.ipa"))
        _ = try await phone.install().result.get()
        #expect(phone.log.contains("remove PublicStaging/ferry-x.ipa"))
        #expect(phone.leftovers == ["PublicStaging/ferry-x.ipa"])
        phone.set { $0.hidesFolders = true }
        _ = try await phone.install().result.get()
    }

    @Test func `has a name that says who sent it`() throws {
        let name = StagedName()
        #expect(StagedName(name.text) == name)
        #expect(!name.sender.isGone)
        #expect(name.text != StagedName().text)
        var gone = name.sender
        gone.start &+= 1
        #expect(gone.isGone)
        gone.run ^= 1
        #expect(!gone.isGone)
        #expect(StagedName("ferry-2s-a-1-zz.ipa")?.sender == .init(run: 100, process: 10, start: 1))
        for text in [
            "", "ferry-.ipa", "ferry-1-2-3.ipa", "ferry-1-2-3-4-5.ipa", "ferry-1-2-3-.ipa", "ferry-1-2-3--4.ipa",
            "ferry-1-2-3-4", "Harbour.ipa", "ferry-1-2-3-zzzzzzzzzzzzzzzzzzzz.ipa", "ferry-ü-2-3-4.ipa",
        ] {
            #expect(StagedName(text) == nil, "\(text)")
        }
    }

    @Test func `is no reason to touch what a running process sends`() async throws {
        let phone = try Harbour.phone()
        defer { phone.disconnect() }
        let files = StagedFiles()
        let name = files.take()
        #expect(!files.isLeft(name))
        files.release(name)
        #expect(files.isLeft(name))
    }
}
