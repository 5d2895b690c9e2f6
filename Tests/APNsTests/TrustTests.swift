import FerryAPNs
import FerryBytes
import FerryStandInAPNs
import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct `A server that is not the service` {
    @Test func `is not trusted when its certificate is another's`() async throws {
        var world = try World()
        let other = try StandInCredentials()
        world.configuration.caFile = try world.folder.write(other.certificate, to: "other.pem")
        let error = await apnsError { [world] in try await world.send(World.push()) }
        #expect(error?.code == .certificate)
        #expect(error?.message.hasPrefix("The certificate of localhost:\(world.server.port) is not trusted:") == true)
        #expect(error?.remedy?.contains("name a file of trusted ones") == true)
        #expect(world.server.ledger.requests == 0)
    }

    @Test func `is not trusted by the system's certificates`() async throws {
        var world = try World()
        world.configuration.caFile = nil
        let error = await apnsError { [world] in try await world.send(World.push()) }
        #expect(error?.code == .certificate)
    }

    @Test(arguments: ["DNS:api.example.com", "DNS:example.localhost,IP:10.0.0.1"])
    func `is not trusted when its certificate is for another name`(names: String) async throws {
        let credentials = try StandInCredentials(names: names)
        let server = try StandInAPNs(credentials: credentials)
        let folder = try TemporaryFolder()
        for host in ["localhost", "127.0.0.1"] {
            var configuration = APNsConfiguration(.custom(host: host, port: server.port))
            configuration.caFile = try folder.write(credentials.certificate, to: "ca.pem")
            let client = try APNsClient(configuration, key: World.key(credentials))
            let error = await apnsError { try await client.send(World.push()) }
            #expect(error?.code == .certificate)
            #expect(error?.message.contains("mismatch") == true)
            #expect(error?.remedy?.hasPrefix("Check the host") == true)
            await client.close()
        }
        #expect(server.ledger.requests == 0)
    }

    @Test func `is reached by its address where the certificate has that`() async throws {
        var world = try World()
        world.configuration.endpoint = .custom(host: "127.0.0.1", port: world.server.port)
        #expect(try await world.send(World.push()).status == 200)
    }

    @Test(arguments: [nil, "http/1.1"])
    func `does not speak HTTP2, and is told so`(name: String?) async throws {
        let world = try World(StandInScript { $0.protocolName = name })
        let error = await apnsError { try await world.send(World.push()) }
        #expect(error?.code == .badAnswer)
        #expect(error?.message == "localhost:\(world.server.port) does not speak HTTP/2.")
    }

    @Test func `does not speak TLS at all`() async throws {
        let server = try HTTPServer { _ in HTTPServer.Response(200) }
        let world = try World()
        var configuration = world.configuration
        configuration.endpoint = .custom(host: "127.0.0.1", port: UInt16(server.port))
        configuration.requestTimeout = .milliseconds(300)
        let client = try APNsClient(configuration, key: world.key)
        let error = await apnsError { try await client.send(World.push()) }
        #expect(error?.code == .connection || error?.code == .timedOut)
        await client.close()
    }

    @Test func `is not there`() async throws {
        let world = try World()
        var configuration = world.configuration
        configuration.endpoint = .custom(host: "127.0.0.1", port: 1)
        configuration.requestTimeout = .milliseconds(200)
        let client = try APNsClient(configuration, key: world.key)
        let error = await apnsError { try await client.send(World.push()) }
        #expect(error?.code == .connection)
        #expect(
            error?.message == "No answer within 0.2 seconds: 127.0.0.1:1 cannot be reached: Connection refused."
        )
        #expect(error?.remedy == "Check this machine's network; Apple also listens on port 2197.")
        await client.close()
    }

    @Test func `has a name without an address`() async throws {
        let world = try World()
        var configuration = world.configuration
        configuration.endpoint = .custom(host: "nowhere.invalid", port: 443)
        configuration.requestTimeout = .milliseconds(500)
        let client = try APNsClient(configuration, key: world.key)
        let error = await apnsError { try await client.send(World.push()) }
        #expect(error?.code == .nameNotFound || error?.code == .timedOut)
        await client.close()
    }

    @Test func `cannot be checked with a file that has no certificates`() throws {
        var world = try World()
        world.configuration.caFile = try world.folder.write("no PEM".utf8, to: "bad.pem")
        let error = #expect(throws: APNsError.self) { try world.client() }
        #expect(error?.code == .badConfiguration)
        #expect(error?.remedy == "Give a file of certificates in PEM.")
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `A proxy` {
    private func proxied(
        _ proxy: ConnectProxy,
        user: String? = nil,
        password: Secret? = nil
    ) throws -> World {
        var world = try World()
        world.configuration.proxy = try ProxyAddress(
            url: "http://127.0.0.1:\(proxy.port)",
            user: user,
            password: password
        )
        return world
    }

    @Test func `connects us, and sees nothing but the service's name`() async throws {
        let proxy = try ConnectProxy()
        let world = try proxied(proxy)
        #expect(try await world.send(World.push()).status == 200)
        let target = "localhost:\(world.server.port)"
        #expect(proxy.heads == ["CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\r\n"])
    }

    @Test func `that asks who we are is told`() async throws {
        let proxy = try ConnectProxy(requiring: "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        // The example of RFC 7617 §2.
        let world = try proxied(proxy, user: "Aladdin", password: Secret("open sesame"))
        #expect(try await world.send(World.push()).status == 200)
    }

    @Test func `that asks who we are and is not told ends the push at once`() async throws {
        let proxy = try ConnectProxy(requiring: "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        let world = try proxied(proxy)
        let error = await apnsError { try await world.send(World.push()) }
        #expect(error?.code == .proxy)
        #expect(
            error?.message == "the proxy 127.0.0.1:\(proxy.port): it wants a user and a password "
                + "(HTTP/1.1 407 Proxy Authentication Required)."
        )
        #expect(error?.remedy == "Give those of the proxy.")
    }

    @Test(arguments: ["HTTP/1.1 403 Forbidden\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nmore"])
    func `that does not let us through ends the push at once`(answer: String) async throws {
        let proxy = try ConnectProxy(answering: answer)
        let world = try proxied(proxy)
        let error = await apnsError { try await world.send(World.push()) }
        #expect(error?.code == .proxy)
        #expect(world.server.ledger.accepted == 0)
    }

    @Test(arguments: ["HTTP/1.1 503 Service Unavailable\r\n\r\n", "", "HTTP/1.1 200"])
    func `that cannot connect now is asked again until the push has no time left`(answer: String) async throws {
        let proxy = try ConnectProxy(answering: answer)
        var world = try proxied(proxy)
        world.configuration.requestTimeout = .milliseconds(400)
        let error = await apnsError { [world] in try await world.send(World.push()) }
        #expect(error?.code == .proxy)
        #expect(proxy.heads.count > 1)
    }

    @Test func `that is dead is named`() async throws {
        var world = try World()
        world.configuration.proxy = try ProxyAddress(url: "http://127.0.0.1:1")
        world.configuration.requestTimeout = .milliseconds(200)
        let error = await apnsError { [world] in try await world.send(World.push()) }
        #expect(error?.code == .proxy)
        #expect(error?.message.contains("the proxy 127.0.0.1:1 cannot be reached: Connection refused") == true)
    }

    @Test func `that says nothing is left when the time to connect is over`() async throws {
        let proxy = try ConnectProxy(answering: nil)
        var world = try proxied(proxy)
        world.configuration.connectTimeout = .milliseconds(100)
        world.configuration.requestTimeout = .milliseconds(500)
        let error = await apnsError { [world] in try await world.send(World.push()) }
        #expect(error?.code == .connection)
        #expect(error?.message.contains("(through the proxy 127.0.0.1:\(proxy.port)) did not answer within") == true)
    }

    @Test(arguments: [
        "127.0.0.1:3128", "https://p:1", "socks5://p:1", "http://p", "http://:80", "http://p:99999", "http://u:p@h:1",
        "http://p:0",
    ])
    func `whose address is none is refused`(url: String) {
        let error = #expect(throws: APNsError.self) { try ProxyAddress(url: url, user: nil) }
        #expect(error?.code == .badConfiguration)
        #expect(error?.description.contains("u:p@h") == false)
    }

    @Test func `keeps its password to itself`() throws {
        let proxy = try ProxyAddress(url: "http://[::1]:3128/", user: "me", password: Secret("open sesame"))
        #expect(proxy.host == "::1")
        #expect(proxy.port == 3128)
        var dumped = "\(proxy)"
        dump(proxy, to: &dumped)
        #expect(!dumped.contains("sesame"))
    }
}
