import CMicroHTTPD
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Makes answers into the library's.
enum LibraryResponse {
    /// How much of a file is read at once, where the kernel cannot send it by itself.
    private static let fileBlock = 256 << 10
    /// How much of a stream is taken at once.
    private static let streamBlock = 16 << 10

    /// The library's response with its status; `nil` where there is no memory.
    static func make(_ response: Response, method: String, _ exchange: Exchange) -> (Int, OpaquePointer)? {
        var status = response.status
        var extra: [(String, String)] = []
        let made: OpaquePointer?
        switch response.body {
        case .bytes(let bytes):
            made = bytes.withUnsafeBytes { buffer in
                MHD_create_response_from_buffer(
                    buffer.count,
                    UnsafeMutableRawPointer(mutating: buffer.baseAddress),
                    .RESPMEM_MUST_COPY
                )
            }
        case .stream(let source):
            made = stream(exchange)
            if method != "HEAD" { exchange.startStream(source) }
        case .file(let file):
            let part = part(of: file, response, method, exchange)
            extra = [("ETag", "\"\(file.tag)\""), ("Accept-Ranges", "bytes")]
            let count = file.source.count
            switch part {
            case .whole:
                made = contents(file, 0..<count, exchange)
            case .range(let range):
                status = 206
                extra.append(("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)"))
                made = contents(file, range, exchange)
            case .unchanged:
                status = 304
                made = empty()
            case .otherVersion:
                status = 412
                made = empty()
            case .unsatisfiable:
                status = 416
                extra.append(("Content-Range", "bytes */\(count)"))
                made = empty()
            }
        }
        guard let made else { return nil }
        for field in response.headers.fields { MHD_add_response_header(made, field.name, field.value) }
        for (name, value) in extra { MHD_add_response_header(made, name, value) }
        if exchange.core.isStopping { MHD_add_response_header(made, "Connection", "close") }
        return (status, made)
    }

    private static func part(
        of file: FileBody,
        _ response: Response,
        _ method: String,
        _ exchange: Exchange
    ) -> FilePart {
        guard response.status == 200, let headers = try? RequestHead.fields(exchange.pointer) else { return .whole }
        return FilePart(method: method, headers: headers, count: file.source.count, tag: file.tag)
    }

    private static func empty() -> OpaquePointer? {
        MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
    }

    private static func stream(_ exchange: Exchange) -> OpaquePointer? {
        let context = Unmanaged.passRetained(exchange)
        let made = MHD_create_response_from_callback(
            ferry_mhd_unknown_size,
            streamBlock,
            { context, _, buffer, count in
                guard let context, let buffer else { return ferry_mhd_failure }
                let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
                let filled = exchange.fill(UnsafeMutableRawBufferPointer(start: buffer, count: count))
                if filled == ferry_mhd_failure { exchange.connection.end() }
                return filled
            },
            context.toOpaque(),
            { context in
                if let context { Unmanaged<Exchange>.fromOpaque(context).release() }
            }
        )
        if made == nil { context.release() }
        return made
    }

    /// The kernel sends from the file by itself, unless TLS is between them, or somebody wants to know how far it is.
    private static func contents(_ file: FileBody, _ range: Range<Int>, _ exchange: Exchange) -> OpaquePointer? {
        guard !range.isEmpty else { return empty() }
        if !exchange.core.isSecure, file.sent == nil {
            // The library closes what it is given.
            let copy = fcntl(file.source.descriptor, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else { return nil }
            let made = MHD_create_response_from_fd_at_offset64(UInt64(range.count), copy, UInt64(range.lowerBound))
            if made == nil { closeDescriptor(copy) }
            return made
        }
        let reader = FileReader(file, range, exchange.connection)
        let context = Unmanaged.passRetained(reader)
        let made = MHD_create_response_from_callback(
            UInt64(range.count),
            min(fileBlock, range.count),
            { context, offset, buffer, count in
                guard let context, let buffer, let offset = Int(exactly: offset) else { return ferry_mhd_failure }
                return Unmanaged<FileReader>.fromOpaque(context).takeUnretainedValue()
                    .fill(UnsafeMutableRawBufferPointer(start: buffer, count: count), from: offset)
            },
            context.toOpaque(),
            { context in
                if let context { Unmanaged<FileReader>.fromOpaque(context).release() }
            }
        )
        if made == nil {
            context.release()
        } else {
            exchange.state.withLock { $0.file = reader }
        }
        return made
    }
}
