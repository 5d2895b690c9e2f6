package import FerryActivity
import FerryBytes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Counts what happens, for Prometheus.
package final class Metrics: Reporter {
    /// The upper ends of the buckets of durations, in seconds.
    static let buckets = [1.0, 5, 15, 60, 300, 900, 3_600]

    fileprivate struct Counts: Sendable {
        var added = 0
        var ended: [String: Int] = [:]
        var failedStages: [String: Int] = [:]
        var durations = [Int](repeating: 0, count: Metrics.buckets.count)
        var durationCount = 0
        var durationSum = 0.0
        var downloadedBytes: Int64 = 0
        var downloading: [InstallID: Int64] = [:]
        var requests: [Int: Int] = [:]
        var lateReporters = 0
    }

    private let counts = Guarded(Counts())

    /// Nothing has happened.
    package init() {}

    /// Counts until the updates end.
    package func report(_ updates: ActivityUpdates) async {
        for await update in updates { counts.withLock { $0.take(update) } }
    }

    func answered(_ status: Int) {
        counts.withLock { $0.requests[status, default: 0] += 1 }
    }

    /// The text of `/metrics`.
    func text(_ activity: Activity, viewers: Int) -> String {
        let counts = counts.withLock { $0 }
        var text = ""
        func metric(_ name: String, _ type: String, _ help: String, _ values: [(labels: String, value: String)]) {
            text += "# HELP ferry_\(name) \(help)\n# TYPE ferry_\(name) \(type)\n"
            for (labels, value) in values { text += "ferry_\(name)\(labels) \(value)\n" }
        }
        metric("installs_added_total", "counter", "Installs that were added.", [("", "\(counts.added)")])
        metric(
            "installs_ended_total",
            "counter",
            "Installs that ended, by outcome.",
            ["installed", "delivered", "failed", "cancelled"].map {
                ("{outcome=\"\($0)\"}", "\(counts.ended[$0] ?? 0)")
            }
        )
        let stages = Stage.allCases.filter { $0 != .finished }
        metric(
            "installs_failed_total",
            "counter",
            "Installs that failed, by the stage they were at.",
            stages.map { ("{stage=\"\($0.rawValue)\"}", "\(counts.failedStages[$0.rawValue] ?? 0)") }
        )
        metric(
            "installs",
            "gauge",
            "Installs that have not ended, by stage.",
            stages.map { stage in
                ("{stage=\"\(stage.rawValue)\"}", "\(activity.unfinished.count { $0.stage == stage })")
            }
        )
        metric(
            "installs_held",
            "gauge",
            "Installs that somebody holds.",
            [("", "\(activity.unfinished.count { $0.isHeld })")]
        )
        metric(
            "downloaded_bytes_total",
            "counter",
            "Bytes that downloads of installs brought.",
            [("", "\(counts.downloadedBytes)")]
        )
        text += "# HELP ferry_install_seconds How long installs took that ended with an app installed.\n"
        text += "# TYPE ferry_install_seconds histogram\n"
        for (end, count) in zip(Self.buckets, counts.durations) {
            text += "ferry_install_seconds_bucket{le=\"\(Int(end))\"} \(count)\n"
        }
        text += "ferry_install_seconds_bucket{le=\"+Inf\"} \(counts.durationCount)\n"
        text += "ferry_install_seconds_sum \(counts.durationSum)\nferry_install_seconds_count \(counts.durationCount)\n"
        metric("viewers", "gauge", "Viewers of the event stream.", [("", "\(viewers)")])
        metric(
            "http_requests_total",
            "counter",
            "Requests, by status.",
            counts.requests.sorted { $0.key < $1.key }.map { ("{status=\"\($0.key)\"}", "\($0.value)") }
        )
        metric(
            "reporters_detached_total",
            "counter",
            "Reporters that were detached.",
            [("", "\(counts.lateReporters)")]
        )
        return text
    }
}

extension Metrics.Counts {
    fileprivate mutating func take(_ update: ActivityUpdate) {
        for install in update.activity.installs where install.stage == .downloading {
            guard let progress = install.progress, progress.unit == .bytes, progress.completed > 0 else { continue }
            let before = downloading[install.id] ?? 0
            // One that begins anew counts anew.
            downloadedBytes &+= progress.completed >= before ? progress.completed - before : progress.completed
            downloading[install.id] = progress.completed
        }
        switch update.fact {
        case .added: added += 1
        case .stageChanged(let id, let stage) where stage != .downloading: downloading[id] = nil
        case .finished(let id, let outcome):
            downloading[id] = nil
            switch outcome {
            // How long it takes to be installed is somebody else's time.
            case .delivered: ended["delivered", default: 0] += 1
            case .installed:
                ended["installed", default: 0] += 1
                if let install = update.install, let end = install.finishedAt {
                    count(end.timeIntervalSince(install.addedAt))
                }
            case .failed(let failure):
                ended["failed", default: 0] += 1
                failedStages[failure.stage.rawValue, default: 0] += 1
            case .cancelled: ended["cancelled", default: 0] += 1
            }
        case .reporterDetached: lateReporters += 1
        default: break
        }
    }

    private mutating func count(_ seconds: Double) {
        guard seconds.isFinite, seconds >= 0 else { return }
        durationCount += 1
        durationSum += seconds
        for (index, end) in Metrics.buckets.enumerated() where seconds <= end { durations[index] += 1 }
    }
}
