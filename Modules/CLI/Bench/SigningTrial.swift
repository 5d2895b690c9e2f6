import FerryBytes
import FerryDownload
import FerrySigning

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// One archive signed in every way that is measured.
struct SigningTrial {
    let input: String
    let folder: BenchFolder
    let options: SigningOptions
    /// How many are signed at once.
    let archives: Int
    private let alone: Signer
    private let knowing: Signer
    private let together: Signer
    private let oneThread: Signer
    private let cache: ArchiveCache

    init(input: String, folder: BenchFolder, options: SigningOptions, _ invocation: Invocation) {
        self.input = input
        self.folder = folder
        self.options = options
        archives = invocation.arguments.number("--archives") ?? 8
        cache = ArchiveCache(folder: folder.path("cache"))
        alone = invocation.signer()
        knowing = invocation.signer(cache: cache)
        together = invocation.signer()
        oneThread = invocation.signer(threadCount: 1)
    }

    /// The rows that each turn gives.
    var names: [String] {
        SigningPhase.allCases.map(\.rawValue) + ["first", "known", "after the last byte"]
            + (archives > 0 ? [oneByOne, atOnce] : [])
    }

    private var oneByOne: String { "\(archives) one by one" }
    private var atOnce: String { "\(archives) at once" }

    /// Signs in every way.
    func turn() async throws -> [(String, Measurement)] {
        var costs = try await phases()
        costs.append(("known", try await known()))
        costs.append(("after the last byte", try await afterLastByte()))
        guard archives > 0 else { return costs }
        costs.append((oneByOne, try await measure { try await signAll(by: oneThread, atOnce: 1) }))
        costs.append((atOnce, try await measure { try await signAll(by: together, atOnce: archives) }))
        return costs
    }

    /// Signs once; gives what each phase and the whole cost.
    private func phases() async throws -> [(String, Measurement)] {
        let request = request("ferry.ipa")
        var marks: [(String, ContinuousClock.Instant, Double)] = []
        let clock = ContinuousClock()
        var size = 0
        var whole = try await measure {
            let signing = alone.sign(request)
            for await event in signing.events {
                guard case .phase(let phase) = event else { continue }
                marks.append((phase.rawValue, clock.now, ProcessUsage.processorSeconds()))
            }
            size = try await signing.archive.byteCount
            marks.append(("", clock.now, ProcessUsage.processorSeconds()))
        }
        whole.output = size
        var costs: [(String, Measurement)] = []
        for (mark, next) in zip(marks, marks.dropFirst()) {
            let cost = Measurement(wall: mark.1.duration(to: next.1).inSeconds, processor: next.2 - mark.2)
            costs.append((mark.0, cost))
        }
        return costs + [("first", whole)]
    }

    /// Signs an archive that is known, as another signature left it: by nobody, under another id.
    private func known() async throws -> Measurement {
        cache.clear()
        var before = request("known.ipa")
        before.options.signatures = .adHoc
        before.options.bundleIdentifier = "com.example.before"
        before.options.recipe = SigningRecipe()
        before.options.profiles = []
        _ = try await knowing.sign(before).archive
        let request = request("known.ipa")
        var size = 0
        var cost = try await measure { size = try await knowing.sign(request).archive.byteCount }
        cost.output = size
        return cost
    }

    /// Signs an archive that was read while it was downloaded; from when it is whole.
    private func afterLastByte() async throws -> Measurement {
        let server = try SlowServer(
            bytes: try WholeFile.read(input, limit: 1 << 32),
            name: "Trial.ipa",
            bytesPerSecond: Self.downloadRate
        )
        defer { server.stop() }
        var configuration = DownloadConfiguration(stateFolder: folder.path("downloads"))
        configuration.proxy = ""
        let downloader = try Downloader(configuration)
        let path = folder.path("arrived.ipa")
        unlink(path)
        let ahead = alone.readAhead(options)
        let download = await downloader.start(DownloadRequest(url: server.url, destination: path))
        var partial: String?
        for await event in download.events {
            switch event {
            case .partial(let path): partial = path
            case .front(let bytes): if let partial { ahead.advance(path: partial, front: bytes) }
            case .restarted: ahead.restart()
            default: break
            }
        }
        _ = try await download.file
        var request = request("ferry.ipa")
        request.input = path
        request.ahead = ahead
        let signing = request
        var size = 0
        var cost = try await measure { size = try await alone.sign(signing).archive.byteCount }
        cost.output = size
        await downloader.close()
        unlink(path)
        return cost
    }

    /// Bytes a second.
    private static let downloadRate = 100_000_000

    private func signAll(by signer: Signer, atOnce limit: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<archives {
                if index >= limit { try await group.next() }
                let request = request("\(index).ipa")
                group.addTask { _ = try await signer.sign(request).archive }
            }
            try await group.waitForAll()
        }
    }

    private func request(_ name: String) -> SigningRequest {
        // An old output's memory is not to be given back while the clock runs.
        unlink(folder.path(name))
        return SigningRequest(input: input, output: folder.path(name), options: options)
    }

    private func measure(_ body: () async throws -> Void) async throws -> Measurement {
        if archives > 0 {
            for index in 0..<archives { unlink(folder.path("\(index).ipa")) }
        }
        ProcessUsage.resetPeak()
        let clock = ContinuousClock()
        let start = (clock.now, ProcessUsage.processorSeconds())
        try await body()
        return Measurement(
            wall: start.0.duration(to: clock.now).inSeconds,
            processor: ProcessUsage.processorSeconds() - start.1,
            peakMemory: ProcessUsage.peak()
        )
    }
}
