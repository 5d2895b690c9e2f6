import FerryActivity
import FerryPipeline
import Foundation
import TestKit
import Testing

@testable import FerryServer

/// The text format of Prometheus, version 0.0.4, read as strictly as its description allows.
///
/// Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>
private struct Exposition {
    struct Sample {
        let name: String
        let labels: [String: String]
        let value: Double
    }

    struct Broken: Error {
        let line: Substring
    }

    var types: [String: String] = [:]
    var samples: [Sample] = []

    init(_ text: String) throws {
        guard text.hasSuffix("\n") else { throw Broken(line: "") }
        var family = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            if let match = line.wholeMatch(of: /# HELP ([a-z_][a-z0-9_]*) (\S.*)/) {
                family = String(match.1)
                guard types[family] == nil else { throw Broken(line: line) }
            } else if let match = line.wholeMatch(of: /# TYPE ([a-z_][a-z0-9_]*) (counter|gauge|histogram)/) {
                guard String(match.1) == family, types[family] == nil else { throw Broken(line: line) }
                types[family] = String(match.2)
            } else if let match = line.wholeMatch(of: /([a-z_][a-z0-9_]*)(\{[^{}]*\})? (\S+)/) {
                // All lines of a family are together, after what says its type.
                let endings = types[family] == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
                guard endings.contains(where: { family + $0 == match.1 }), let value = Double(match.3) else {
                    throw Broken(line: line)
                }
                var labels: [String: String] = [:]
                for part in (match.2 ?? "{}").dropFirst().dropLast().split(separator: ",") {
                    guard let pair = part.wholeMatch(of: /([a-z_]+)="([^"\\\n]*)"/) else { throw Broken(line: line) }
                    labels[String(pair.1)] = String(pair.2)
                }
                samples.append(Sample(name: String(match.1), labels: labels, value: value))
            } else {
                throw Broken(line: line)
            }
        }
    }

    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        samples.first { $0.name == name && $0.labels == labels }?.value
    }
}

@Suite(.enabled(if: Quay.hasCurl, Quay.absent), .timeLimit(.minutes(5))) struct `The metrics of a control server` {
    @Test func `are text as Prometheus reads it, and true`() async throws {
        let quay = try await Quay()
        let id = try await quay.install()
        try await quay.finish(id)
        let held = try await quay.install(held: true)
        let failing = try await quay.call("POST", "/api/v1/installs", json: #"{"url":"http://127.0.0.1:1/a.ipa"}"#)
        let failed = InstallID(try #require(failing.object["id"] as? String))
        _ = try? await quay.pipeline.result(of: failed)
        while await quay.center.activity[failed]?.isFinished != true { try await Task.sleep(for: .milliseconds(2)) }
        // The counting reporter is told a moment later.
        var text = ""
        repeat { text = try await quay.call("GET", "/metrics").text } while !text.contains("outcome=\"failed\"} 1")
        let metrics = try Exposition(text)
        #expect(metrics.types.allSatisfy { $0.value == "counter" ? $0.key.hasSuffix("_total") : true })
        #expect(
            Set(metrics.samples.map { "\($0.name)\($0.labels.sorted { $0.key < $1.key })" }).count
                == metrics.samples.count
        )
        #expect(metrics.value("ferry_installs_added_total") == 3)
        #expect(metrics.value("ferry_installs_ended_total", ["outcome": "installed"]) == 1)
        #expect(metrics.value("ferry_installs_ended_total", ["outcome": "delivered"]) == 0)
        #expect(metrics.value("ferry_installs_failed_total", ["stage": "downloading"]) == 1)
        #expect(metrics.value("ferry_installs_held") == 1)
        let buckets = metrics.samples.filter { $0.name == "ferry_install_seconds_bucket" }.map(\.value)
        #expect(buckets == buckets.sorted() && buckets.last == metrics.value("ferry_install_seconds_count"))
        if let promtool = Tool("promtool") {
            let input = Array(text.utf8)
            let judged = try await onThread { try promtool.run(["check", "metrics"], input: input) }
            #expect(judged.status == 0, "\(judged.errors)")
        }
        await quay.pipeline.cancel(held)
        await quay.end()
    }
}
