import Testing

@testable import FerryHTTP

@Suite struct `The path of a request` {
    @Test(arguments: [
        ("/", [""]), ("/a/b", ["a", "b"]), ("/a/b/", ["a", "b", ""]), ("/a%20b", ["a b"]), ("/%C3%A9", ["é"]),
        ("/a..b/...", ["a..b", "..."]),
    ])
    func `is cut before escapes are undone`(raw: String, segments: [String]) throws {
        #expect(try RequestPath(raw).segments == segments)
    }

    @Test(arguments: [
        "", "a", "*", "http://other/", "/..", "/a/../b", "/%2e%2e/", "/.%2E", "/./a", "/a%2fb", "/a%2Fb", "/a%5cb",
        "/a\\b",
        "/a%00", "/a%0d%0ab", "/%", "/%4", "/%zz", "/%ff", "/a%7f", "/%c0%ae%c0%ae/",
    ])
    func `is refused where it could mean another place`(raw: String) {
        #expect(throws: PathProblem.self) { try RequestPath(raw) }
    }
}
