/// Which handler answers which method and path.
///
/// A pattern is a path with names in braces for segments that may be anything but empty: `/i/{link}/icon57.png`. Where
/// two patterns fit, the earlier one answers. `HEAD` goes where `GET` goes. A path without its method is 405, no path 404.
package struct Routes: Sendable {
    /// One of them.
    package struct Route: Sendable {
        let method: String
        let pattern: [String]
        let handler: Handler

        /// Answers `method` at `pattern`, without a detour or in a task, as the handler sees fit.
        package init(_ method: String, _ pattern: String, _ handler: @escaping Handler) {
            self.method = method
            self.pattern = pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            self.handler = handler
        }

        /// Answers at once; for what neither waits nor takes long.
        package static func now(
            _ method: String,
            _ pattern: String,
            _ handler: @escaping @Sendable (Request) -> Response
        ) -> Route {
            Route(method, pattern) { .now(handler($0)) }
        }

        /// Answers in a task.
        package static func later(
            _ method: String,
            _ pattern: String,
            bodyLimit: Int? = nil,
            _ handler: @escaping @Sendable (Request) async -> Response
        ) -> Route {
            Route(method, pattern) { request in .later(bodyLimit: bodyLimit) { await handler(request) } }
        }

        fileprivate func parameters(_ segments: [String]) -> [String: String]? {
            guard segments.count == pattern.count else { return nil }
            var parameters: [String: String] = [:]
            for (part, segment) in zip(pattern, segments) {
                if part.utf8.first == UInt8(ascii: "{") {
                    guard !segment.isEmpty else { return nil }
                    parameters[String(part.dropFirst().dropLast())] = segment
                } else if part != segment {
                    return nil
                }
            }
            return parameters
        }
    }

    private let routes: [Route]
    private let refuse: @Sendable (Refusal) -> Response

    /// The routes, and what is answered where none fits.
    package init(
        _ routes: [Route],
        refuse: @escaping @Sendable (Refusal) -> Response = { .text("\($0.message)\n", status: $0.status) }
    ) {
        self.routes = routes
        self.refuse = refuse
    }

    /// Asks the handler that it is for.
    package func answer(_ request: Request) -> Answer {
        var allowed: [String] = []
        for route in routes {
            guard let parameters = route.parameters(request.path.segments) else { continue }
            if route.method == request.method || (route.method == "GET" && request.method == "HEAD") {
                var request = request
                request.parameters = parameters
                return route.handler(request)
            }
            allowed.append(route.method)
            if route.method == "GET" { allowed.append("HEAD") }
        }
        if allowed.isEmpty {
            return .now(refuse(Refusal(status: 404, message: "There is nothing at \(request.path.raw).")))
        }
        var response = refuse(Refusal(status: 405, message: "\(request.path.raw) cannot be asked that way."))
        response.headers["Allow"] = allowed.joined(separator: ", ")
        return .now(response)
    }
}
