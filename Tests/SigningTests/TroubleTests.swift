import FerryBytes
import FerrySigning
import FerryZip
import Foundation
import TestKit
import Testing

/// An app of many small files, which keeps a signer busy for a while.
private enum Crowd {
    static let large = 20_000
    static let few = Result { try make(3000) }

    static func make(_ count: Int) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        try folder.write(Archive.sample().bytes(), to: "a.ipa")
        let script = """
            import zipfile, sys
            with zipfile.ZipFile(sys.argv[1], "a", zipfile.ZIP_DEFLATED) as z:
                for i in range(\(count)):
                    z.writestr("Payload/A.app/files/%d/%d.txt" % (i % 100, i), str(i) * (i % 50))
            """
        guard let python = Tool("python3") else { throw ToolFailure("python3 is missing") }
        let made = try python.run(["-c", script, folder.path("a.ipa")])
        guard made.status == 0 else { throw ToolFailure(made.errors) }
        return try folder.read("a.ipa")
    }
}

@Suite(.enabled(if: Hands.usable && Tool("python3") != nil, "\(TestAuthority.absent)"), .timeLimit(.minutes(10)))
struct `A signer in trouble` {
    private static let executor = BlockingExecutor()

    @Test func `signs 20,000 files`() async throws {
        let desk = try Desk(try Crowd.make(Crowd.large))
        let signed = try await desk.sign(try Hands.options())
        #expect(signed.signedFileCount == 4)
        #expect(try await desk.faults() == [])
        #expect(try ZipDirectory(FileSource(path: desk.output)).entries.count > Crowd.large)
    }

    @Test(arguments: [false, true])
    func `that is cancelled leaves nothing`(byTask: Bool) async throws {
        let desk = try Desk(try Crowd.few.get())
        let signing = Hands.signer.sign(
            SigningRequest(input: desk.input, output: desk.output, options: try Hands.options())
        )
        let reader = Task(executorPreference: Self.executor) { () async -> SignError? in
            do throws(SignError) {
                _ = try await signing.archive
                return nil
            } catch {
                return error
            }
        }
        // On a thread of its own, as the signing is: other tests may keep the pool from hearing of it in time.
        await withTaskExecutorPreference(Self.executor) {
            for await event in signing.events {
                guard case .planned = event else { continue }
                if byTask { reader.cancel() } else { signing.cancel() }
            }
        }
        let error = await reader.value
        #expect(error?.code == .cancelled)
        #expect(error?.isCancellation == true)
        #expect(error?.message == "\(desk.input): signing was cancelled; nothing was written.")
        #expect(try desk.leftovers() == [])
    }

    @Test func `goes on when its input loses its name`() async throws {
        let desk = try Desk(try Crowd.few.get())
        let signing = Hands.signer.sign(
            SigningRequest(input: desk.input, output: desk.output, options: try Hands.options())
        )
        for await event in signing.events {
            if case .planned = event { try FileManager.default.removeItem(atPath: desk.input) }
        }
        _ = try await signing.archive
        #expect(try await desk.faults() == [])
    }

    @Test func `whose input is cut meanwhile says so and leaves nothing`() async throws {
        let desk = try Desk(try Crowd.few.get())
        let signing = Hands.signer.sign(
            SigningRequest(input: desk.input, output: desk.output, options: try Hands.options())
        )
        try await withTaskExecutorPreference(Self.executor) {
            for await event in signing.events {
                if case .planned = event { try #require(truncate(desk.input, 4000) == 0) }
            }
        }
        let error = await #expect(throws: SignError.self) { try await signing.archive }
        #expect(error?.code == .input)
        #expect(error?.message.contains(desk.input) == true, "\(error?.message ?? "")")
        #expect(try desk.leftovers() == [])
    }

    @Test(arguments: ["missing/out.ipa", "in.ipa/out.ipa", "out"])
    func `that cannot write there says so before the work`(name: String) async throws {
        let desk = try Desk(.sample())
        let path = desk.folder.path(name)
        let request = SigningRequest(input: desk.input, output: path, options: try Hands.options())
        let error = await #expect(throws: SignError.self) { try await Hands.signer.sign(request).archive }
        #expect(error?.code == .output)
        #expect(error?.message.hasPrefix(path + ": cannot") == true, "\(error?.message ?? "")")
        #expect(error?.remedy != nil)
        #expect(try desk.leftovers() == [])
    }

    @Test(.enabled(if: SmallDisk.isPossible, "\(SmallDisk.absent)"))
    func `on a read-only file system says so`() async throws {
        let mount = try SmallDisk("ro")
        let desk = try Desk(.sample())
        let request = SigningRequest(input: desk.input, output: mount.path + "/out.ipa", options: try Hands.options())
        let error = await #expect(throws: SignError.self) { try await Hands.signer.sign(request).archive }
        #expect(error?.code == .output)
        #expect(error?.message.contains("Read-only file system") == true)
        #expect(error?.remedy?.contains("choose another folder") == true)
    }

    @Test(.enabled(if: SmallDisk.isPossible, "\(SmallDisk.absent)"))
    func `on a full disk says so and leaves nothing`() async throws {
        let mount = try SmallDisk("size=64k")
        var generator = SeededGenerator(seed: 3)
        let noise = generator.bytes(200_000)
        let desk = try Desk(.sample { $0["Payload/A.app/noise"] = noise })
        let output = mount.path + "/out.ipa"
        let request = SigningRequest(input: desk.input, output: output, options: try Hands.options())
        let error = await #expect(throws: SignError.self) { try await Hands.signer.sign(request).archive }
        #expect(error?.code == .output)
        #expect(error?.message.contains(output) == true)
        #expect(error?.message.contains("No space left on device") == true, "\(error?.message ?? "")")
        #expect(error?.remedy?.contains("Make room") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: mount.path) == [])
    }

    @Test(.enabled(if: SmallDisk.isPossible, "\(SmallDisk.absent)"))
    func `unpacks nothing beside its output`() async throws {
        // Of 16 MB that pack to a few thousand bytes, a disk of 1 MB holds the archive and no folder.
        let disk = try SmallDisk("size=1m")
        let desk = try Desk(.sample { $0["Payload/A.app/zeros"] = [UInt8](repeating: 0, count: 16 << 20) })
        var options = try Hands.options()
        options.verification = .full
        let request = SigningRequest(input: desk.input, output: disk.path + "/out.ipa", options: options)
        let signed = try await Hands.signer.sign(request).archive
        #expect(signed.signedFileCount == 4)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["out.ipa"])
    }

    @Test(.enabled(if: SmallDisk.isPossible, "\(SmallDisk.absent)"))
    func `says that it cannot write where its input lies`() async throws {
        let disk = try SmallDisk("size=1m")
        let path = disk.path + "/a.ipa"
        try Data(try Archive.sample().bytes()).write(to: URL(fileURLWithPath: path))
        try disk.makeReadOnly()
        let request = SigningRequest(input: path, output: path, options: try Hands.options())
        let error = await #expect(throws: SignError.self) { try await Hands.signer.sign(request).archive }
        #expect(error?.code == .output)
        #expect(error?.message == path + ": cannot create: Read-only file system.")
    }

    @Test func `stops checking when it is cancelled`() async throws {
        let desk = try Desk(try Crowd.few.get())
        let check = Task { () async -> SignError? in
            do throws(SignError) {
                _ = try await Hands.signer.verify(desk.input)
                return nil
            } catch {
                return error
            }
        }
        check.cancel()
        #expect(await check.value?.code == .cancelled)
    }

    @Test func `keeps what was there when it fails`() async throws {
        let desk = try Desk(.sample { $0["Payload/A.app/A"] = [1, 2, 3] })
        try desk.folder.write([42], to: "out/out.ipa")
        await #expect(throws: SignError.self) { try await desk.sign(try Hands.options()) }
        #expect(try desk.folder.read("out/out.ipa") == [42])
        #expect(try desk.leftovers() == ["out.ipa"])
    }
}
