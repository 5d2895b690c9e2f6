import Testing

@testable import FerryHTTP

struct `The name that a server is asked by` {
    @Test(arguments: [
        ("127.0.0.1:8470", "127.0.0.1"), ("Ferry.Example", "ferry.example"), ("[::1]:443", "[::1]"), ("[::1]", "[::1]"),
        ("ferry.example:", "ferry.example"),
    ])
    func `is the host without its port`(host: String, name: String) {
        #expect(HostNames.name(host) == name)
    }

    // A browser that was led here by somebody else's name says that name; nothing that begins like ours is ours.
    @Test(arguments: [
        "evil.example", "127.0.0.1.evil.example", "[::1]x.evil", "[::1", "127.0.0.1:80.evil.example", "127.0.0.1, evil",
        "",
        "[::1]80", "127.0.0.1@evil.example", ":127.0.0.1",
    ])
    func `is nobody else's`(host: String) {
        #expect(!["127.0.0.1", "[::1]", "localhost"].contains(HostNames.name(host)))
    }
}
