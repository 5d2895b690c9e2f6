import FerryBytes
import TestKit
import Testing

@testable import FerryCatalog

@Suite struct `A hostile source` {
    private func app(_ index: Int, versions: Int = 1) -> String {
        let list = (0..<versions).map { "{\"version\": \"\($0)\", \"downloadURL\": \"https://e.com/a\"}" }
        return "{\"bundleIdentifier\": \"com.example.a\(index)\", \"versions\": [\(list.joined(separator: ","))]}"
    }

    private func list(_ apps: [String]) -> String { "{\"apps\": [\(apps.joined(separator: ","))]}" }

    @Test func `is cut after so many apps, and says so`() throws {
        var limits = SourceLimits()
        limits.maximumApps = 3
        let list = try source(list((0..<5).map { app($0) }), limits: limits)
        #expect(list.apps.count == 3)
        #expect(
            list.problems.map(\.description) == [
                "apps[3] and those after it: there are 5 apps, more than 3; the app is left out."
            ]
        )
    }

    @Test func `is cut after so many versions, and says so once`() throws {
        var limits = SourceLimits()
        limits.maximumVersions = 3
        let list = try source(list([app(0, versions: 2), app(1, versions: 4)]), limits: limits)
        #expect(list.apps.map(\.versions.count) == [2, 1])
        #expect(list.problems.count == 1)
        #expect(list.problems.first?.reason.contains("more than 3 versions") == true)
    }

    @Test func `keeps so many problems and counts the others`() throws {
        var limits = SourceLimits()
        limits.maximumProblems = 2
        let list = try source(list(["1", "2", "3", "4", app(0)]), limits: limits)
        #expect(list.problems.count == 2)
        #expect(list.furtherProblemCount == 2)
        #expect(list.apps.count == 1)
    }

    @Test func `cannot nest without end`() {
        let text = "{\"apps\": [], \"x\": " + String(repeating: "[", count: 100_000)
        let error = #expect(throws: CatalogError.self) { try source(text) }
        #expect(error?.code == .tooMuch)
        #expect(error?.message == "apps.json: The list is refused: it is nested more than 32 deep.")
    }

    @Test func `cannot have texts without end`() throws {
        let list = try sourceOfOne("\"buildVersion\": \"\(String(repeating: "7", count: 5000))\"")
        #expect(list.apps[0].versions[0].build == nil)
        #expect(list.problems.first?.reason == "it has 5000 bytes, more than 4096")
    }

    @Test func `cannot be longer than the limit`() {
        var limits = SourceLimits()
        limits.maximumBytes = 10
        let error = #expect(throws: CatalogError.self) { try source("{\"apps\": []}", limits: limits) }
        #expect(error?.code == .tooMuch)
    }

    @Test func `cannot command a terminal`() throws {
        let list = try source(
            "{\"apps\": [{\"name\": \"a\\u001b[2Jb\", \"bundleIdentifier\": \"c\\u0007\", \"versions\": [\"x\\u001b\"]}]}"
        )
        #expect(list.apps == [])
        for problem in list.problems {
            #expect(!problem.description.contains("\u{1B}") && !problem.description.contains("\u{7}"))
        }
        #expect(list.problems.count == 2)
        let pictures = try source(
            """
            {"apps": [{"bundleIdentifier": "a", "version": "1", "downloadURL": "/a", "screenshots": {"x\\u001b[2J": 5}}]}
            """
        )
        #expect(pictures.problems.map(\.field) == ["screenshots.x\\u{1B}[2J"])
    }

    /// Each way doubles what could be quadratic; ten thousand of each are read within the time limit of any test.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            "{\"version\": \"1\", \"downloadURL\": \"https://e.com/a\"}",
            "{\"version\": \"1\", \"downloadURL\": \"/a\", \"size\": \"x\"}",
        ]
    )
    func `of a hundred thousand equal versions is read all the same`(version: String) throws {
        let versions = [String](repeating: version, count: 100_000).joined(separator: ",")
        let list = try source("{\"apps\": [{\"bundleIdentifier\": \"com.example.a\", \"versions\": [\(versions)]}]}")
        #expect(list.apps[0].versions.count == 1)
    }
}

@Suite struct `A published date` {
    @Test(arguments: [
        ("2024-03-05", "2024-03-05T00:00:00Z"), ("2024-3-5", "2024-03-05T00:00:00Z"),
        ("2024-03-05T14:07:09Z", "2024-03-05T14:07:09Z"), ("2024-03-05T14:07:09.123456Z", "2024-03-05T14:07:09Z"),
        ("2024-03-05T14:07:09+02:00", "2024-03-05T12:07:09Z"), ("2024-03-05T14:07:09-0730", "2024-03-05T21:37:09Z"),
        ("2024-03-05T14:07:09.5+02", "2024-03-05T12:07:09Z"), ("2024-03-05T14:07:09", "2024-03-05T14:07:09Z"),
        ("2024-03-05 14:07:09", "2024-03-05T14:07:09Z"), ("2024-03-05T14:07Z", "2024-03-05T14:07:00Z"),
        ("2024-02-29T23:59:60Z", "2024-02-29T23:59:59Z"), ("1709647629", "2024-03-05T14:07:09Z"),
        ("1709647629123", "2024-03-05T14:07:09Z"), ("1709647629.9", "2024-03-05T14:07:09Z"),
    ])
    func `is read in each form that is in use`(text: String, expected: String) throws {
        #expect(PublishedDate.date(text) == (try instant(expected)))
    }

    @Test(arguments: [
        "", "0", "-5", "2024", "2024-13-01", "2023-02-29", "2024-03-05T25:00:00Z", "2024-03-05T14:07:09+25:00",
        "2024-03-05Tx", "05.03.2024", "yesterday", "2024-03-05T14:07:09Zzz", "1e300", "nan", "2024-03-05T14:07:09.",
    ])
    func `that is none is not guessed`(text: String) {
        #expect(PublishedDate.date(text) == nil)
    }
}
