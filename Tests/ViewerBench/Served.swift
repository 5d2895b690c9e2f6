import FerryActivity
import FerryBytes
import FerryDownload
import FerryHTTP
import FerryInstalling
import FerryPipeline
import FerrySample
import FerryServer
import FerrySigning
import FerryWebReporter
import Foundation
import TestKit

/// The server, which installs a batch when it is told to.
enum Served {
    /// Prints its port; a line on standard input begins the batch; prints what it took when that is over.
    static func run(installs: Int) async throws {
        let folder = try TemporaryFolder()
        for name in ["work", "partial", "apps"] { try makeFolders(folder.path(name)) }
        var app = SampleApp()
        app.approximateBytes = 3_000_000
        let archive = try folder.write(try app.archive(level: 1), to: "Harbour.ipa")
        let center = ActivityCenter(now: { Date() }, clock: ContinuousClock())
        let pipeline = InstallPipeline(
            downloader: try Downloader(DownloadConfiguration(stateFolder: folder.path("partial"))),
            signer: Signer(threadCount: 2, now: { Int64(Date().timeIntervalSince1970) }),
            installer: Installer(target: FolderTarget(folder: folder.path("apps"))),
            center: center,
            workFolder: folder.path("work")
        )
        let book = InstallBook()
        let web = WebReporter(clock: ContinuousClock(), addition: book.add)
        await center.attach(web, named: "web")
        let services = Services(
            version: "0",
            target: "folder:apps",
            signs: true,
            center: center,
            web: web,
            pipeline: pipeline,
            request: { _ in InstallRequest(source: archive, signing: nil) }
        )
        var setup = ControlSetup(folder: folder.path("server"), hosts: ["127.0.0.1"])
        setup.tokens = [(Main.token, .viewer)]
        setup.limits.callBurst = 100_000
        let server = try ControlServer(
            ServerConfiguration(listen: ListenAddress(host: "127.0.0.1", port: 0)),
            setup,
            services,
            book: book,
            metrics: Metrics()
        )
        say("\(server.address.port)")
        _ = readLine()
        let before = Usage.now()
        for number in 0..<installs {
            var request = InstallRequest(source: archive, signing: SigningOptions(.adHoc))
            request.title = "App \(number)"
            await pipeline.submit(request)
        }
        while await center.activity.unfinished.isEmpty == false { try await Task.sleep(for: .milliseconds(20)) }
        // What was told last has to reach everybody.
        try await Task.sleep(for: .seconds(1))
        let after = Usage.now()
        say(
            "\(after.seconds - before.seconds) \(after.cpu - before.cpu) \(before.residentKilobytes) "
                + "\(after.residentKilobytes) \(after.peakKilobytes) \(web.viewerCount)"
        )
        await center.close(waitingAtMost: .seconds(5))
        await server.stop()
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}

/// What this process has used.
struct Usage {
    let seconds: Double
    let cpu: Double
    let residentKilobytes: Int
    /// The most that was ever resident.
    let peakKilobytes: Int

    static func now() -> Usage {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        func kilobytes(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
            // A tab stands after the name.
            return line?.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first ?? 0
        }
        return Usage(
            seconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9,
            cpu: Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
                + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
            residentKilobytes: kilobytes("VmRSS:"),
            peakKilobytes: kilobytes("VmHWM:")
        )
    }
}
