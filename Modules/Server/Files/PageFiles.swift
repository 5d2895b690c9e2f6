import FerryBytes
import FerryCodeSignature
import FerryHTTP

/// The files of the dashboard: those that are built in, or those of a folder as they are.
struct PageFiles: Sendable {
    /// One of them.
    struct File: Sendable {
        let bytes: [UInt8]
        let type: String
        let tag: String

        init(_ bytes: [UInt8], name: String) {
            self.bytes = bytes
            type = PageFiles.types[name.split(separator: ".").last.map(String.init) ?? ""] ?? "application/octet-stream"
            tag = "\"" + HashAlgorithm.sha256.digest(bytes).prefix(12).hex + "\""
        }
    }

    /// The longest file of a folder that is served.
    private static let limit = 4 << 20

    private let files: [String: File]
    private let folder: String?

    /// - Parameter folder: serves the files there; `nil` for those that are built in.
    init(folder: String?) {
        self.folder = folder
        files = Dictionary(Self.embedded.map { ($0.name, File($0.bytes, name: $0.name)) }) { one, _ in one }
    }

    /// The names of those that are built in.
    var names: [String] { files.keys.sorted() }

    func file(_ name: String) -> File? {
        guard let folder else { return files[name] }
        // A name is one segment of a clean path, so it leads nowhere else.
        guard !name.isEmpty, name.utf8.first != UInt8(ascii: ".") else { return nil }
        return (try? WholeFile.read(folder + "/" + name, limit: Self.limit)).map { File($0, name: name) }
    }

    /// The file as an answer; 304 where the browser has it.
    func response(_ request: Request, _ name: String) -> Response? {
        guard let file = file(name) else { return nil }
        var response = Response.bytes(file.bytes, type: file.type, headers: Self.headers)
        response.headers["ETag"] = file.tag
        if request.headers["If-None-Match"] == file.tag {
            response.status = 304
            response.body = .bytes([])
        }
        return response
    }

    /// No script but ours, no frame around it, nothing told to other sites.
    static let headers: HeaderFields = [
        "Content-Security-Policy":
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Cache-Control": "no-cache",
    ]

    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml; charset=utf-8", "png": "image/png", "json": "application/json", "woff2": "font/woff2",
        "ico": "image/x-icon", "webmanifest": "application/manifest+json", "txt": "text/plain; charset=utf-8",
    ]
}
