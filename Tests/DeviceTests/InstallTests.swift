import FerryBytes
import FerryDevice
import FerryInstalling
import FerryPropertyList
import FerryZip
import Foundation
import StandInDevice
import TestKit
import Testing

@Suite(.timeLimit(.minutes(5)))
struct `An install on a device` {
    @Test(arguments: [false, true])
    func `goes its steps, ends with Complete and leaves no file`(isPlain: Bool) async throws {
        let phone = try Harbour.phone { $0.faults.isPlain = isPlain }
        defer { phone.disconnect() }
        let ending = try await phone.install()
        let app = try ending.result.get()
        #expect(app == InstalledApp(identifier: "com.example.harbour", location: "Anna's iPhone", isUpdate: false))
        #expect(
            ending.steps == [
                "Uploading", "CreatingStagingDirectory", "ExtractingPackage", "InspectingPackage", "TakingInstallLock",
                "PreflightingApplication", "InstallingEmbeddedProfile", "VerifyingApplication", "CreatingContainer",
                "InstallingApplication", "PostflightingApplication", "SandboxingApplication",
                "GeneratingApplicationMap",
            ]
        )
        #expect(ending.percents == [5, 15, 20, 20, 30, 30, 40, 50, 60, 70, 80, 90])
        let bytes = ending.told.compactMap { event -> [Int]? in
            if case .progress(let completed, let total) = event { [completed, total] } else { nil }
        }
        #expect(bytes.count > 2 && bytes.last?[0] == bytes.last?[1])
        #expect(phone.leftovers == [])
        #expect(phone.apps.map(\.identifier) == ["com.example.harbour"])
        #expect(phone.apps.map(\.version) == ["1.2"])
    }

    @Test func `starts the service for apps before that for files, and makes PublicStaging`() async throws {
        let phone = try Harbour.phone()
        defer { phone.disconnect() }
        _ = try await phone.install().result.get()
        let log = phone.log
        let apps = try #require(log.lastIndex(of: "StartService com.apple.mobile.installation_proxy"))
        let files = try #require(log.lastIndex(of: "StartService com.apple.afc"))
        #expect(apps < files)
        #expect(log.contains("mkdir PublicStaging"))
        #expect(log.contains("options CFBundleIdentifier"))
        #expect(log.last { $0.hasPrefix("remove") }?.hasPrefix("remove PublicStaging/ferry-") == true)
    }

    @Test func `hands on the licence and the metadata of the App Store where the archive has them`() async throws {
        let phone = try Harbour.phone()
        defer { phone.disconnect() }
        let archive = try phone.harbour.archive(for: phone.identifier) { builder in
            builder.addFile("Payload/Harbour.app/SC_Info/Harbour.sinf", [1, 2, 3])
            builder.addFile("iTunesMetadata.plist", PropertyList.dictionary([:]).encoded(as: .xml))
        }
        _ = try await phone.install(archive).result.get()
        #expect(phone.log.contains("options ApplicationSINF CFBundleIdentifier iTunesMetadata"))
    }

    @Test func `says that it took the place of an older version`() async throws {
        let phone = try Harbour.phone()
        defer { phone.disconnect() }
        _ = try await phone.install().result.get()
        #expect(try await phone.install().result.get().isUpdate)
    }

    @Test func `goes to a device in the network, too`() async throws {
        let address: [UInt8] = [127, .random(in: 1...250), .random(in: 1...250), .random(in: 2...250)]
        let phone = try Harbour.phone { $0.networkAddress = address }
        defer { phone.disconnect() }
        _ = try await phone.install().result.get()
        #expect(try await Device.find(phone.identifier).connection == .network)
        #expect(phone.leftovers == [])
    }

    @Test func `leaves it to a device that cannot look an app up`() async throws {
        let phone = try Harbour.phone { $0.faults.knowsNoLookup = true }
        defer { phone.disconnect() }
        #expect(try await !phone.install().result.get().isUpdate)
    }

    @Test func `does without percents where the device says none`() async throws {
        let phone = try Harbour.phone { $0.faults.omitsPercents = true }
        defer { phone.disconnect() }
        let ending = try await phone.install()
        _ = try ending.result.get()
        #expect(ending.percents == [])
        #expect(ending.steps.count == 13)
    }

    @Test(arguments: ["Uploading", "VerifyingApplication"])
    func `ends when its task is cancelled, and leaves no file`(step: String) async throws {
        let phone = try Harbour.phone {
            if step == "Uploading" { $0.faults.stallsAfterBytes = 300_000 } else { $0.faults.stallsAfterStatus = step }
        }
        defer { phone.disconnect() }
        let folder = try TemporaryFolder()
        let path = try folder.write(phone.harbour.archive(for: phone.identifier), to: "Harbour.ipa")
        let (steps, sink) = AsyncStream.makeStream(of: InstallEvent.self)
        let task = Task {
            try await DeviceTarget(identifier: phone.identifier).install(path) { sink.yield($0) }
        }
        for await event in steps {
            if step == "Uploading", case .progress = event { break }
            if event == .step(step) { break }
        }
        task.cancel()
        let error = await #expect(throws: InstallError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(phone.leftovers == [])
        #expect(phone.apps == [])
    }

    @Test func `waits for nobody who was cancelled before it began`() async throws {
        let phone = try Harbour.phone()
        defer { phone.disconnect() }
        let folder = try TemporaryFolder()
        let path = try folder.write(phone.harbour.archive(for: phone.identifier), to: "Harbour.ipa")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await DeviceTarget(identifier: phone.identifier).install(path) { _ in }
        }
        let error = await #expect(throws: InstallError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(!phone.log.contains("Install"))
    }
}
