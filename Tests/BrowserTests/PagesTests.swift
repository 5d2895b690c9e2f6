import Foundation
import TestKit
import Testing

/// Chromium, driven over a pipe by `browser.py`.
enum Chromium {
    /// What a test says when it skips.
    static let absent: Comment = "chromium or python3 is not installed"
    /// Whether the machine has a browser, and what drives it.
    static let exists = ["chromium", "chromium-browser", "google-chrome"].contains { Tool($0) != nil } && python != nil
    /// Python.
    static let python = Tool("python3")

    /// What a script says of one check: its name, and what is wrong.
    struct Verdict: Decodable {
        let check: String
        let fault: String?
    }

    /// Runs a script beside this file, and reads its verdicts, one a line.
    static func run(_ script: String, _ arguments: [String] = []) async throws -> (verdicts: [Verdict], errors: String)
    {
        let python = try #require(python)
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(script).path
        let result = try await onThread { try python.run([path] + arguments) }
        let verdicts = try result.text.split(separator: "\n").map { line in
            try JSONDecoder().decode(Verdict.self, from: Data(line.utf8))
        }
        return (verdicts, result.errors)
    }
}

/// What is tried, is in `check_pages.py`, a function a sentence.
@Suite(.enabled(if: Chromium.exists, Chromium.absent))
struct `The dashboard in a browser` {
    @Test(.timeLimit(.minutes(5)))
    func `does what each of its checks says`() async throws {
        let (verdicts, errors) = try await Chromium.run("check_pages.py")
        for verdict in verdicts {
            if let fault = verdict.fault { Issue.record("\(verdict.check): \(fault)") }
        }
        // A script that broke off has told of fewer.
        #expect(verdicts.count >= 20 && errors.isEmpty, "\(verdicts.count) checks. \(errors)")
    }
}
