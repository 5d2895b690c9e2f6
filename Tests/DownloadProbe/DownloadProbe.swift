import FerryDownload
import Foundation

/// Downloads URL to FILE in a process that a test can kill: `ferry-download-probe URL FILE STATE PAUSE-LIMIT-MS
/// CONNECTIONS`.
///
/// Takes the lines `hold` and `release` on standard input, and prints each event as a line.
@main
enum DownloadProbe {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let pauseLimit = Int(arguments[4]), let connections = Int(arguments[5])
        else {
            throw DownloadError(.badRequest, "usage: ferry-download-probe URL FILE STATE PAUSE-LIMIT-MS CONNECTIONS")
        }
        var configuration = DownloadConfiguration(stateFolder: arguments[3])
        configuration.proxy = ""
        configuration.backOff = BackOff(first: .milliseconds(20), limit: .milliseconds(50))
        configuration.connections = connections > 0 ? .fixed(connections) : .adaptive(limit: 16)
        configuration.pauseLimit = .milliseconds(pauseLimit)
        let downloader = try Downloader(configuration)
        let download = await downloader.start(DownloadRequest(url: arguments[1], destination: arguments[2]))
        Thread.detachNewThread {
            while let line = readLine() {
                Task {
                    if line == "hold" { await downloader.hold(download.id) }
                    if line == "release" { await downloader.release(download.id) }
                }
            }
        }
        for await event in download.events {
            // One write a line, so that a reader of the pipe sees each as it happens.
            FileHandle.standardOutput.write(Data("\(event.line)\n".utf8))
        }
        await downloader.close()
    }
}

extension DownloadEvent {
    fileprivate var line: String {
        switch self {
        case .started(_, let resumedFrom): "started \(resumedFrom)"
        case .progress(let completed, _): "progress \(completed)"
        case .partial(let path): "partial \(path)"
        case .front(let bytes): "front \(bytes)"
        case .held: "held"
        case .released: "released"
        case .retrying(let attempt, _, _): "retrying \(attempt)"
        case .movedOn(let mirror, _): "moved on to \(mirror)"
        case .restarted(let reason): "restarted \(reason)"
        case .finished(let file): "finished \(file.length)"
        case .failed(let error): "failed \(error.code)"
        }
    }
}
