import Foundation
import Testing

/// What `docs/compare.md` rests on.
@Suite
struct `The page of comparisons` {
    private static let docs = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("docs")

    private static func lines() throws -> [String] {
        try String(contentsOf: docs.appendingPathComponent("compare.md"), encoding: .utf8)
            .split(separator: "\n").map(String.init)
    }

    /// The links in a text: each with its target, and its title where it has one.
    private static func links(_ text: String) -> [(target: String, title: String?)] {
        text.matches(of: #/\]\((?<target>[^)\s"]+)(?:\s+"(?<title>[^"]*)")?\)/#).map { match in
            (String(match.output.target), match.output.title.map(String.init))
        }
    }

    /// The rows of the table below a heading, cell by cell.
    private static func rows(below heading: String) throws -> [[String]] {
        let lines = try lines()
        let start = try #require(lines.firstIndex(of: "## " + heading))
        let table = lines[(start + 1)...].drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
        return table.dropFirst(2).map { row in
            row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    @Test func `has no link that leads nowhere, and names only tests that there are`() throws {
        let links = Self.links(try Self.lines().joined(separator: "\n"))
        #expect(links.count > 100)
        for (target, title) in links where !target.hasPrefix("https://") {
            let path = Self.docs.appendingPathComponent(target).standardizedFileURL.path
            let text = try? String(contentsOfFile: path, encoding: .utf8)
            #expect(text != nil, "\(target) is not there")
            if let title { #expect(text?.contains("func `\(title)`(") == true, "\(target) has no test “\(title)”") }
            #expect((title != nil) == target.hasPrefix("../Tests/"), "\(target)")
        }
    }

    @Test(arguments: [
        "The app", "Injection", "Identities, profiles, entitlements", "The work", "What people met with other tools",
    ])
    func `has a test for all that is said of Ferry`(heading: String) throws {
        let rows = try Self.rows(below: heading)
        #expect(rows.count > 10)
        let width = try #require(rows.first?.count)
        for row in rows {
            #expect(row.count == width, "\(row)")
            let claim = row[1]
            #expect(claim == "no" || Self.links(claim).contains { $0.title != nil }, "\(row[0])")
        }
    }
}
