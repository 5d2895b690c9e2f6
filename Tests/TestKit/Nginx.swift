import Foundation

/// A real nginx with a configuration, a folder and ports of its own on loopback; ended with its last reference.
public final class Nginx: Sendable {
    /// What a test says when it skips.
    public static let absent = "nginx or openssl is not installed"
    /// Whether the machine has what it takes.
    public static let isInstalled = Tool("nginx") != nil && Tool("openssl") != nil

    /// Where `files/`, `logs/` and `certificate.pem` are.
    public let folder: TemporaryFolder
    /// Its port for http.
    public let port: Int
    /// Its port for https, with HTTP/2; `/up` redirects to `/file` there, `/down` to `/file` on http, and
    /// `/slow/` gives 250 kB a second.
    public let securePort: Int
    private let process: Process

    /// Serves the folder `files/`; `rate` is nginx's `limit_rate` for each connection, `0` for none.
    public init(rate: String = "0") throws {
        folder = try TemporaryFolder()
        for name in ["files", "logs"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        }
        try Tool("openssl")?.run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder.path("key.pem"), "-out",
            folder.path("certificate.pem"),
        ])
        // nginx wants numbers, and between our finding one and its taking it, another may be faster: then again.
        for _ in 0..<8 {
            let (_, port) = try Socket.listen()
            let (_, securePort) = try Socket.listen()
            if let process = try Self.launch(folder, port, securePort, rate) {
                (self.port, self.securePort, self.process) = (port, securePort, process)
                return
            }
        }
        throw POSIXError(.EADDRINUSE)
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    /// The first byte of each `Range: bytes=N-` in the access log, zero where there was none, as the requests ended.
    public func loggedRanges() throws -> [Int] {
        String(decoding: try folder.read("logs/access.log"), as: UTF8.self).split(separator: "\n").map { line in
            Int(line.dropFirst("bytes=".count).prefix { $0 != "-" }) ?? 0
        }
    }

    /// Runs nginx until it listens; `nil` where it could not.
    private static func launch(
        _ folder: TemporaryFolder,
        _ port: Int,
        _ securePort: Int,
        _ rate: String
    ) throws
        -> Process?
    {
        let path = folder.path
        let configuration = """
            \(getuid() == 0 ? "user root;" : "")
            daemon off;
            worker_processes 1;
            pid \(path)/nginx.pid;
            events {}
            http {
                log_format ranges '$http_range';
                access_log \(path)/logs/access.log ranges;
                client_body_temp_path \(path)/t1;
                proxy_temp_path \(path)/t2;
                fastcgi_temp_path \(path)/t3;
                uwsgi_temp_path \(path)/t4;
                scgi_temp_path \(path)/t5;
                limit_rate \(rate);
                server {
                    listen 127.0.0.1:\(port);
                    root \(path)/files;
                }
                server {
                    listen 127.0.0.1:\(securePort) ssl http2;
                    ssl_certificate \(path)/certificate.pem;
                    ssl_certificate_key \(path)/key.pem;
                    root \(path)/files;
                    location /slow/ {
                        alias \(path)/files/;
                        limit_rate 250k;
                    }
                    location /down { return 302 http://127.0.0.1:\(port)/file; }
                    location /up { return 302 https://127.0.0.1:\(securePort)/file; }
                }
            }
            """
        try folder.write(configuration.utf8, to: "nginx.conf")
        guard let nginx = Tool("nginx") else { return nil }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: nginx.path)
        process.arguments = ["-p", path, "-c", path + "/nginx.conf", "-e", path + "/logs/error.log"]
        // With our output it would keep whoever reads that waiting, were we to end without ending it.
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        // It writes the file once it listens.
        while process.isRunning, !FileManager.default.fileExists(atPath: path + "/nginx.pid") {
            usleep(2000)
        }
        return process.isRunning ? process : nil
    }
}
