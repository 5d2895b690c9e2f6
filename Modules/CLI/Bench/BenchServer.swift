import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An nginx of a benchmark's own on loopback, with one file; ended with its last reference.
final class BenchServer {
    /// The file's address, at the server or at the proxy before it.
    let url: String
    /// How long the file is.
    let bytes: Int
    private let server: pid_t
    private let proxy: pid_t?
    private let toProxy: Int32
    private let scratch: BenchFolder

    /// Serves a file of `bytes` random bytes; `through` is the command of a proxy, in which `{port}` is the server's.
    init(_ scratch: BenchFolder, bytes: Int, through: String?) throws {
        self.scratch = scratch
        self.bytes = bytes
        try makeFolders(scratch.path("files"))
        try Self.fill(scratch.path("files/file"), bytes)
        // Free a moment ago, and again from here on.
        let (listener, port) = try Descriptor.listener()
        listener.close()
        let configuration = Self.configuration(scratch, workers: 1, "server { listen 127.0.0.1:\(port); }")
        try WholeFile.write(Array(configuration.utf8), to: scratch.path("nginx.conf"))
        let server = try Self.startNginx(scratch, orElse: "Install it (apt-get install nginx-light), or give --url.")
        self.server = server
        guard let through else {
            (proxy, toProxy) = (nil, -1)
            url = "http://127.0.0.1:\(port)/file"
            return
        }
        do {
            let (process, input, line) = try Self.startProxy(through.replacing("{port}", with: "\(port)"))
            (proxy, toProxy) = (process, input)
            url = "http://127.0.0.1:\(line)/file"
        } catch {
            Self.end(server)
            throw error
        }
    }

    deinit {
        if let proxy {
            close(toProxy)
            Self.end(proxy)
        }
        Self.end(server)
    }

    /// Ends a program of ours, and waits until it is gone.
    static func end(_ process: pid_t) {
        kill(process, SIGTERM)
        while waitpid(process, nil, 0) < 0, errno == EINTR {}
    }

    /// A configuration of nginx that keeps to that folder; `http` is what stands there beside the folders.
    static func configuration(_ scratch: BenchFolder, workers: Int, _ http: String) -> String {
        """
        \(getuid() == 0 ? "user root;" : "")
        daemon off;
        worker_processes \(workers);
        pid \(scratch.path("nginx.pid"));
        error_log \(scratch.path("error.log"));
        events {}
        http {
        access_log off;
        sendfile on;
        client_body_temp_path \(scratch.path("t1"));
        proxy_temp_path \(scratch.path("t2"));
        fastcgi_temp_path \(scratch.path("t3"));
        uwsgi_temp_path \(scratch.path("t4"));
        scgi_temp_path \(scratch.path("t5"));
        root \(scratch.path("files"));
        \(http)
        }

        """
    }

    /// Starts nginx with `nginx.conf` of that folder, and waits until it listens: then it writes the file with its number.
    static func startNginx(_ scratch: BenchFolder, orElse advice: String) throws -> pid_t {
        let places = (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":").map(String.init)
        guard let program = (places + ["/usr/sbin"]).map({ $0 + "/nginx" }).first(where: { access($0, X_OK) == 0 })
        else {
            throw UsageError(
                .invalidValue,
                "nginx is not installed, which the file is served by.",
                advice: advice
            )
        }
        let process = try ChildProcess.spawn(
            program,
            ["nginx", "-p", scratch.path(""), "-c", scratch.path("nginx.conf"), "-e", scratch.path("error.log")]
        )
        for _ in 0..<2500 {
            if access(scratch.path("nginx.pid"), F_OK) == 0 { return process }
            if waitpid(process, nil, WNOHANG) == process { break }
            usleep(2000)
        }
        throw FileFailure("start", program, errorNumber: ECHILD)
    }

    /// Starts a proxy, and gives the port that it prints.
    private static func startProxy(_ command: String) throws -> (process: pid_t, input: Int32, port: UInt16) {
        var input: [Int32] = [-1, -1]
        var output: [Int32] = [-1, -1]
        guard pipe(&input) == 0, pipe(&output) == 0 else { throw FileFailure("open", "a pipe", errorNumber: errno) }
        for descriptor in input + output { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        defer {
            for descriptor in [input[0], output[0], output[1]] { close(descriptor) }
        }
        let process: pid_t
        do {
            process = try ChildProcess.spawn(
                "/bin/sh",
                ["sh", "-c", "exec " + command],
                input: input[0],
                output: output[1]
            )
        } catch {
            close(input[1])
            throw error
        }
        var line = ""
        var byte: UInt8 = 0
        while read(output[0], &byte, 1) == 1, byte != UInt8(ascii: "\n"), line.utf8.count < 16 {
            line.unicodeScalars.append(Unicode.Scalar(byte))
        }
        guard let port = UInt16(line) else {
            close(input[1])
            end(process)
            throw UsageError(
                .invalidValue,
                "--through: “\(command)” prints no port.",
                advice: "Give a command that listens on 127.0.0.1 and prints the port in a line of its own."
            )
        }
        return (process, input[1], port)
    }

    /// Random words in pieces, each of which begins with its number.
    private static func fill(_ path: String, _ count: Int) throws(FileFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFailure("create", path, errorNumber: errno) }
        defer { close(descriptor) }
        var piece = (0..<(1 << 17)).map { _ in UInt64.random(in: 0...UInt64.max) }
        var written = 0
        while written < count {
            piece[0] = UInt64(written)
            let wanted = min(piece.count * 8, count - written)
            let done = piece.withUnsafeBytes { write(descriptor, $0.baseAddress, wanted) }
            if done < 0, errno == EINTR { continue }
            guard done > 0 else { throw FileFailure("write", path, errorNumber: errno) }
            written += done
        }
    }
}
