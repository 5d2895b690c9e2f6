import FerryBytes
import TestKit
import Testing

@testable import FerryHTTP

@Suite(.timeLimit(.minutes(5)), .enabled(if: TestServer.hasTools, "\(TestServer.absent)"))
struct `A server` {
    private static let routes = Routes([
        .now("GET", "/hello") { _ in .text("hello\n") },
        .now("GET", "/echo/{name}") { request in
            .text(
                "\(request.parameters["name"] ?? "") \(request.query("q") ?? "-") \(request.headers["x-word"] ?? "-")"
            )
        },
        .later("GET", "/later") { _ in
            await Task.yield()
            return .text("later\n")
        },
        .later("POST", "/count") { request in
            .text("\((try? await request.body.bytes().count) ?? -1)")
        },
    ])

    @Test(arguments: [false, true])
    func `answers at once and later, on one connection`(secure: Bool) async throws {
        let server = try TestServer(secure: secure) { Self.routes.answer($0) }
        #expect(try await server.curl("/hello").text == "hello\n")
        #expect(try await server.curl("/later").text == "later\n")
        #expect(try await server.curl("/echo/a%20%C3%A9?q=x%26y+z", ["-H", "X-Word: w"]).text == "a é x&y z w")
        let base = server.base
        let many = try await server.curl(
            "/later",
            ["-w", "%{num_connects} "] + (0..<4).flatMap { [$0 % 2 == 0 ? "\(base)/hello" : "\(base)/later"] }
        )
        #expect(many.text == "hello\n1 later\n0 hello\n0 later\n0 later\n0 ")
    }

    @Test func `says which methods there are, and what is not there`() async throws {
        let server = try TestServer { Self.routes.answer($0) }
        #expect(try await server.status("/nowhere") == "404")
        #expect(try await server.status("/hello/") == "404")
        let refused = try await server.curl("/hello", ["-i", "-X", "DELETE"]).text
        #expect(refused.hasPrefix("HTTP/1.1 405") && refused.contains("Allow: GET, HEAD"))
        let head = try await server.curl("/hello", ["-I"]).text
        #expect(head.contains("200 OK") && head.contains("Content-Length: 6"))
    }

    @Test(arguments: [
        "/a/../hello", "/%2e%2e/hello", "/echo/a%2fb", "/echo/a%5cb", "/echo/a%00", "/echo/%zz", "/hello?%zz",
    ])
    func `lets no path through that leads elsewhere`(path: String) async throws {
        let server = try TestServer { Self.routes.answer($0) }
        #expect(try await server.status(path) == "400")
    }

    @Test(arguments: [
        "GET http://other/hello HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n",
        "GET /hello HTTP/1.1\r\nConnection: close\r\n\r\n",
        "POST /count HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /count HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        "POST /count HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n",
        "POST /count HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: -3\r\n\r\n",
    ])
    func `refuses a request that can be understood in two ways`(request: String) async throws {
        let server = try TestServer { Self.routes.answer($0) }
        let answer = try await server.talk(request + "GET /nowhere HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 400 ") || answer.hasPrefix("HTTP/1.0 400 "), "\(answer)")
    }

    @Test func `bears whatever comes, and serves on`() async throws {
        let server = try TestServer { Self.routes.answer($0) }
        let whole = Array(
            "POST /count?a=b HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc".utf8
        )
        for index in whole.indices {
            var bent = whole
            bent[index] = 0
            for bytes in [Array(whole[..<index]), bent] {
                let port = server.port
                try await onThread {
                    let socket = try Socket.connect(port: port)
                    _ = socket.write(bytes[...])
                    socket.finishWriting()
                    _ = socket.readAll()
                }
            }
        }
        #expect(try await server.curl("/hello").text == "hello\n")
        #expect(server.server.requests == 0)
    }

    @Test func `refuses a head that is too long`() async throws {
        let server = try TestServer { Self.routes.answer($0) }
        let value = String(repeating: "a", count: 40 << 10)
        #expect(try await server.status("/hello", ["-H", "X: \(value)"]) == "431")
    }

    @Test func `talks TLS from 1.2 on`() async throws {
        let server = try TestServer(secure: true) { Self.routes.answer($0) }
        for version in ["1.2", "1.3"] {
            let result = try await server.curl("/hello", ["--tlsv\(version)", "--tls-max", version])
            #expect(result.text == "hello\n")
        }
        let old = ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0", "-connect", "127.0.0.1:\(server.port)"]
        let refused = try await onThread { try Tool(path: Tool("openssl")?.path ?? "").run(["s_client"] + old) }
        #expect(refused.status != 0)
    }

    @Test func `says what is wrong with a certificate`() throws {
        var configuration = ServerConfiguration(listen: ListenAddress(host: "127.0.0.1", port: 0))
        configuration.tls = TLSIdentity(certificate: Array("nonsense".utf8), key: Secret("nonsense"))
        let error = #expect(throws: HTTPError.self) {
            try FerryHTTP.HTTPServer(configuration) { Self.routes.answer($0) }
        }
        #expect(error?.code == .certificate)
        #expect(error?.remedy?.contains("PEM") == true)
    }

    @Test func `says that another one listens there`() throws {
        let server = try TestServer { Self.routes.answer($0) }
        let error = #expect(throws: HTTPError.self) {
            try FerryHTTP.HTTPServer(ServerConfiguration(listen: server.server.address)) { Self.routes.answer($0) }
        }
        #expect(error?.code == .addressInUse)
        #expect(error?.message == "127.0.0.1:\(server.port): another program listens there.")
    }

    @Test(arguments: [
        ("8470", "127.0.0.1:8470"), ("[::1]:0", "[::1]:0"), ("*:443", "0.0.0.0:443"), ("localhost:1", "127.0.0.1:1"),
    ])
    func `reads where to listen`(text: String, address: String) throws {
        #expect(try ListenAddress(text).description == address)
    }

    @Test(arguments: ["", ":", "example.com:80", "127.0.0.1:", "127.0.0.1:99999", "::1:80", "127.0.0.1:+5"])
    func `refuses what is no place to listen`(text: String) {
        let error = #expect(throws: HTTPError.self) { try ListenAddress(text) }
        #expect(error?.code == .badAddress)
    }
}

extension Socket {
    func finishWriting() { _ = shutdownWriting(descriptor) }
}
