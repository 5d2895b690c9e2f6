import FerryActivity
import FerryBytes
import FerryDownload
import FerryHTTP
import FerryInstalling
import FerryPipeline
import FerryRecord
import FerrySample
import FerrySigning
import FerryWebReporter
import Foundation
import TestKit
import Testing

@testable import FerryServer

/// A control server of a test's own on loopback, which installs into a folder, and curl to ask it.
final class Quay: Sendable {
    static let hasCurl = Tool("curl") != nil
    static let absent: Comment = "curl is missing"

    /// What a call was answered.
    struct Answer {
        let status: Int
        let headers: String
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }

        var object: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
        }

        func header(_ name: String) -> String? {
            headers.split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
                .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }
    }

    static let archive = Result { () -> [UInt8] in
        var app = SampleApp()
        app.approximateBytes = 200_000
        return try app.archive(level: 1)
    }

    /// What the server was told, and what it made.
    final class Said: Sendable {
        let reports = Guarded<[IslandReport]>([])
        let links = Guarded<[InstallID: InstallLink]>([:])
    }

    let folder = Result { try TemporaryFolder() }
    let center: ActivityCenter
    let web: WebReporter
    let pipeline: InstallPipeline
    let record: SQLiteRecord
    let clock = ManualClock()
    let server: ControlServer
    let downloader: Downloader
    let said = Said()
    let admin = Secret("the-admin"), viewer = Secret("the-viewer"), device = Secret("the-device")

    /// - Parameter change: what is other than usual.
    init(_ change: (inout ControlSetup, inout Services) -> Void = { _, _ in }) async throws {
        let folder = try folder.get()
        let clock = clock
        center = ActivityCenter(now: { clock.date }, clock: clock)
        for name in ["work", "partial", "record", "apps"] { try makeFolders(folder.path(name)) }
        downloader = try Downloader(DownloadConfiguration(stateFolder: folder.path("partial")))
        record = try await SQLiteRecord(folder: folder.path("record")) { clock.date }
        pipeline = InstallPipeline(
            downloader: downloader,
            signer: Signer(threadCount: 1, cache: nil, now: { 1_780_000_000 }),
            installer: Installer(target: FolderTarget(folder: folder.path("apps"))),
            center: center,
            workFolder: folder.path("work"),
            record: record,
            partialFolder: folder.path("partial")
        )
        let book = InstallBook()
        // The beat and the pauses of viewers are in real time here: several tests wait for them.
        web = WebReporter(clock: ContinuousClock(), addition: book.add)
        let metrics = Metrics()
        await center.attach(web, named: "web")
        await center.attach(metrics, named: "metrics")
        var services = Services(
            version: "9.9",
            target: "folder:apps",
            signs: true,
            center: center,
            web: web,
            pipeline: pipeline,
            request: { wanted in
                let source =
                    switch wanted.origin {
                    case .url(let url): url
                    case .upload(let path): path
                    case .app(let app, let source, _): "http://\(source).invalid/\(app).ipa"
                    }
                var request = InstallRequest(source: source, signing: SigningOptions(.adHoc, profiles: []))
                request.title = wanted.title
                request.sha256 = wanted.sha256
                return request
            }
        )
        services.record = record
        services.files = InstallFiles(workFolder: folder.path("work"), partialFolder: folder.path("partial"))
        services.recorded = { InstallRequest(source: $0.request.source.text, signing: nil) }
        services.sources = { ["pier"] }
        services.apps = { name, search in
            name == "pier" ? #"{"apps":[{"name":"\#(search)","identifier":"a"}],"problems":[]}"# : nil
        }
        services.island = { [said] report in
            said.reports.withLock { $0.append(report) }
            return true
        }
        services.preview = { path in
            try await Signer(threadCount: 1, cache: nil, now: { 1_780_000_000 }).preview(
                SigningRequest(input: path, output: "", options: SigningOptions(.adHoc, profiles: []))
            )
        }
        services.verify = { path in
            try await Verifier(threadCount: 1, now: { 1_780_000_000 }).verify(
                path,
                for: TargetDevice(identifier: nil, platform: nil, system: nil)
            )
        }
        services.links = LinkServices(
            link: { [said] id in said.links.withLock { $0[id] } },
            make: { [said] id, seconds in
                let link = InstallLink(
                    url: "https://pier.example/i/x/",
                    expiresAt: clock.date.addingTimeInterval(Double(seconds))
                )
                said.links.withLock { $0[id] = link }
                return link
            },
            revoke: { [said] id in said.links.withLock { $0.removeValue(forKey: id) != nil } },
            installed: { id in id.rawValue == "known" }
        )
        services.now = { clock.date }
        services.clock = clock
        var setup = ControlSetup(folder: folder.path("server"), hosts: ["127.0.0.1", "localhost"])
        setup.tokens = [(admin, .admin), (viewer, .viewer), (device, .device)]
        change(&setup, &services)
        server = try ControlServer(
            ServerConfiguration(listen: ListenAddress(host: "127.0.0.1", port: 0)),
            setup,
            services,
            book: book,
            metrics: metrics
        )
    }

    /// Ends all of it; each test calls it last.
    func end() async {
        await pipeline.cancelAll()
        await center.close(waitingAtMost: .zero)
        await server.stop(within: .seconds(1))
        await downloader.close()
        await record.close()
    }

    var base: String { "http://127.0.0.1:\(server.address.port)" }

    /// Asks with curl.
    ///
    /// - Parameters:
    ///   - json: Sent along as JSON.
    ///   - body: Sent along as it is.
    ///   - token: By default the admin's; `nil` for none.
    func call(
        _ method: String,
        _ path: String,
        json: String? = nil,
        body: [UInt8]? = nil,
        token: Secret? = Secret("the-admin"),
        _ more: [String] = []
    ) async throws -> Answer {
        let scratch = try TemporaryFolder()
        var arguments = [
            "-sS", "--path-as-is", "--max-time", "60", "-D", scratch.path("head"), "-o", scratch.path("body"), "-w",
            "%{http_code}",
        ]
        arguments += method == "HEAD" ? ["-I"] : ["-X", method]
        if let token { arguments += ["-H", "Authorization: Bearer \(token.revealed)"] }
        if json != nil { arguments += ["-H", "Content-Type: application/json"] }
        let input = json.map { Array($0.utf8) } ?? body
        if input != nil { arguments += ["--data-binary", "@-"] }
        let all = arguments + more + [path.hasPrefix("http") ? path : base + path]
        let curl = try #require(Tool("curl"))
        let result = try await onThread { try curl.run(all, input: input ?? []) }
        return Answer(
            status: Int(result.text) ?? 0,
            headers: String(decoding: (try? scratch.read("head")) ?? [], as: UTF8.self),
            body: (try? scratch.read("body")) ?? []
        )
    }

    /// Sends the sample app; gives the upload's id.
    func upload(_ bytes: [UInt8]? = nil, name: String = "Harbour.ipa") async throws -> String {
        let answer = try await call("POST", "/api/v1/uploads?name=\(name)", body: try bytes ?? Self.archive.get())
        #expect(answer.status == 201, "\(answer.text)")
        return try #require(answer.object["id"] as? String)
    }

    /// Adds an install of the sample app; gives its id.
    func install(held: Bool = false) async throws -> InstallID {
        let upload = try await upload()
        let answer = try await call("POST", "/api/v1/installs", json: #"{"upload":"\#(upload)","held":\#(held)}"#)
        #expect(answer.status == 201, "\(answer.text)")
        return InstallID(try #require(answer.object["id"] as? String))
    }

    /// Waits for the end of an install.
    func finish(_ id: InstallID) async throws {
        _ = try await pipeline.result(of: id)
        // The result is there a moment before the fact.
        while await center.activity[id]?.isFinished != true { try await Task.sleep(for: .milliseconds(2)) }
    }
}
