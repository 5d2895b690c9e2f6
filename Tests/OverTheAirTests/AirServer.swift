import FerryBytes
import FerryHTTP
import FerrySample
import Foundation
import Synchronization
import TestKit

@testable import FerryOverTheAir

/// A server of links on loopback, with a book whose date a test sets.
final class AirServer: Sendable {
    static let hasCurl = Tool("curl") != nil
    static let absent = "curl is missing"

    let folder: TemporaryFolder
    let book: LinkBook
    let server: FerryHTTP.HTTPServer
    let date: TestDate
    let reported = Reports()

    init(
        in folder: TemporaryFolder? = nil,
        publicURL: String? = nil,
        proxies: Set<String> = [],
        authority: [UInt8]? = nil,
        tls: TLSIdentity? = nil
    ) throws {
        let folder = try folder ?? TemporaryFolder()
        let date = TestDate()
        self.folder = folder
        self.date = date
        book = try LinkBook(folder: folder.path("links"), now: { date.now })
        let address = PublicAddress(fixed: publicURL, trustedProxies: proxies, standard: "https://ferry.example")
        let reported = reported
        let routes = Routes(
            AirRoutes(book, { address }, authority: authority, installed: { reported.add($0) }).routes
        )
        server = try FerryHTTP.HTTPServer(
            ServerConfiguration(listen: ListenAddress(host: "127.0.0.1", port: 0), tls: tls)
        ) { routes.answer($0) }
    }

    /// A sample app that was signed by nobody, as an archive. Made once: in a debug build that takes seconds, in which no
    /// other task goes on.
    private static let sample = Result {
        var app = SampleApp()
        app.approximateBytes = 200_000
        return try app.archive(level: 1)
    }

    func archive(_ name: String = "Harbour.ipa") throws -> String {
        try folder.write(try Self.sample.get(), to: name)
    }

    func add(install: String? = "one", seconds: Int64 = 3600, icons: [[UInt8]] = []) throws -> AirLink {
        try book.add(try AirApp(try archive(), icons: { _ in icons }), install: install, seconds: seconds)
    }

    /// Returns when an install follows the link.
    func isFollowed(_ link: AirLink) async throws {
        while book.watcherCount(of: link.secret) == 0 { try await Task.sleep(for: .milliseconds(2)) }
    }

    func curl(_ path: String, _ options: [String] = [], scheme: String = "http") async throws -> Tool.Result {
        let url = "\(scheme)://127.0.0.1:\(server.address.port)\(path)"
        return try await onThread {
            try Tool(path: Tool("curl")?.path ?? "curl").run(
                ["-sS", "--path-as-is", "--max-time", "60"] + options + [url]
            )
        }
    }

    func status(_ path: String, _ options: [String] = []) async throws -> String {
        try await curl(path, ["-o", "/dev/null", "-w", "%{http_code}"] + options).text
    }
}

final class TestDate: Sendable {
    private let seconds = Atomic<Int64>(1_700_000_000)

    var now: Int64 { seconds.load(ordering: .relaxed) }

    func advance(_ by: Int64) { seconds.add(by, ordering: .relaxed) }
}

final class Reports: Sendable {
    private let links = Mutex<[AirLink]>([])

    var all: [AirLink] { links.withLock { $0 } }

    func add(_ link: AirLink) { links.withLock { $0.append(link) } }
}
