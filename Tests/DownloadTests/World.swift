import FerryDownload
import TestKit
import Testing

/// A folder, a server, and a configuration of one test's own.
struct World: Sendable {
    let folder: TemporaryFolder
    let server: HTTPServer
    var configuration: DownloadConfiguration

    /// `retries` failed attempts in a row, each after a moment; pieces small enough for the sample.
    init(
        retries: Int = 3,
        connections: Int = 1,
        _ answer: @escaping @Sendable (HTTPServer.Request) -> HTTPServer.Response
    ) throws {
        folder = try TemporaryFolder()
        server = try HTTPServer(answer)
        configuration = Self.configuration(folder.path("state"))
        configuration.retries = retries
        configuration.connections = .fixed(connections)
    }

    static func configuration(_ stateFolder: String) -> DownloadConfiguration {
        var configuration = DownloadConfiguration(stateFolder: stateFolder)
        configuration.proxy = ""
        configuration.backOff = BackOff(first: .milliseconds(1), limit: .milliseconds(2))
        configuration.spareBytes = 0
        configuration.minimumPiece = 16 << 10
        return configuration
    }

    var destination: String { folder.path("file.ipa") }

    func request(_ change: (inout DownloadRequest) -> Void = { _ in }) -> DownloadRequest {
        var request = DownloadRequest(url: server.url(), destination: destination)
        change(&request)
        return request
    }

    /// Downloads with a new downloader, as a new process would, and gives all that it told.
    func run(_ change: (inout DownloadRequest) -> Void = { _ in }) async throws -> Told {
        let downloader = try Downloader(configuration)
        let told = await Told(downloader.start(request(change)))
        await downloader.close()
        return told
    }

    /// What is in the state folder.
    func state() throws -> [String] {
        try folder.contents().filter { $0.hasPrefix("state/") }
    }

    /// The path of the only partial file.
    func partial() throws -> String {
        folder.path(try state().first { $0.hasSuffix(".part") } ?? "none")
    }

    /// Asked first bytes, in order; zero where the whole file was asked for.
    var ranges: [Int] { server.exchanges.map { $0.request.firstByte ?? 0 } }
}

/// All that a download told, to its end.
struct Told: Sendable {
    var events: [DownloadEvent] = []

    init(_ download: Download) async {
        for await event in download.events { events.append(event) }
    }

    var file: DownloadedFile? {
        if case .finished(let file)? = events.last { file } else { nil }
    }

    var error: DownloadError? {
        if case .failed(let error)? = events.last { error } else { nil }
    }

    /// Without progress, which may be merged in many ways, and without where the bytes lie.
    var facts: [DownloadEvent] {
        events.filter { event in
            switch event {
            case .progress, .front, .partial: false
            default: true
            }
        }
    }

    var restarts: [String] {
        events.compactMap { if case .restarted(let reason) = $0 { reason } else { nil } }
    }

    var retries: Int {
        events.count { if case .retrying = $0 { true } else { false } }
    }
}

extension Download {
    /// Reads events until one fits; the rest is for the next reader.
    func wait(for isIt: (DownloadEvent) -> Bool) async {
        var last: DownloadEvent?
        for await event in events {
            if isIt(event) { return }
            last = event
        }
        Issue.record("it ended first, with \(last.map { "\($0)" } ?? "nothing")")
    }

    func waitForBytes(_ count: Int64) async {
        await wait { if case .progress(let completed, _) = $0 { completed >= count } else { false } }
    }
}
