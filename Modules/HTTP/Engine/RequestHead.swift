import CMicroHTTPD

/// What the library knows of a request's head.
enum RequestHead {
    /// How long the body will be.
    enum BodyLength {
        case none
        case bytes(Int)
        case unknown
        /// Two servers could understand it in two ways.
        case malformed(String)
    }

    private final class Collector {
        var pairs: [(name: String, value: String)] = []
        var isMalformed = false
    }

    static func bodyLength(_ connection: OpaquePointer?) -> BodyLength {
        let length = field("Content-Length", connection)
        let coding = field("Transfer-Encoding", connection)
        switch (length, coding) {
        case (nil, nil): return .none
        case (let length?, nil):
            guard pairs(connection, .HEADER_KIND).filter({ $0.name.isSameToken(as: "Content-Length") }).count == 1,
                length.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(length)
            else { return .malformed("The request has no clear Content-Length.") }
            return count == 0 ? .none : .bytes(count)
        case (nil, let coding?):
            guard coding.isSameToken(as: "chunked") else {
                return .malformed("The request has a Transfer-Encoding other than chunked.")
            }
            return .unknown
        case (_?, _?):
            return .malformed("The request has both a Content-Length and a Transfer-Encoding.")
        }
    }

    static func expectsContinue(_ connection: OpaquePointer?) -> Bool {
        field("Expect", connection)?.isSameToken(as: "100-continue") ?? false
    }

    static func fields(_ connection: OpaquePointer?) throws(PathProblem) -> HeaderFields {
        var fields = HeaderFields()
        for (name, value) in pairs(connection, .HEADER_KIND) { fields.append(name, value) }
        guard fields.all("Host").count <= 1 else { throw PathProblem(text: "The request names more than one Host.") }
        return fields
    }

    static func query(_ connection: OpaquePointer?) throws(PathProblem) -> [(name: String, value: String)] {
        var query: [(name: String, value: String)] = []
        for (name, value) in pairs(connection, .GET_ARGUMENT_KIND) {
            guard let name = name.utf8.withoutEscapes(), let value = value.utf8.withoutEscapes() else {
                throw PathProblem(text: "The query of the request has an escape that stands for no text.")
            }
            query.append((name, value))
        }
        return query
    }

    private static func field(_ name: String, _ connection: OpaquePointer?) -> String? {
        MHD_lookup_connection_value(connection, .HEADER_KIND, name).map { String(cString: $0) }
    }

    private static func pairs(
        _ connection: OpaquePointer?,
        _ kind: MHD_ValueKind
    ) -> [(name: String, value: String)] {
        let collector = Collector()
        MHD_get_connection_values(
            connection,
            kind,
            { context, _, name, value in
                guard let context, let name else { return .YES }
                Unmanaged<Collector>.fromOpaque(context).takeUnretainedValue().pairs
                    .append((String(cString: name), value.map { String(cString: $0) } ?? ""))
                return .YES
            },
            Unmanaged.passUnretained(collector).toOpaque()
        )
        return collector.pairs
    }
}
