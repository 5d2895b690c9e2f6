import FerryActivity
import FerryBytes
import FerryHTTP
import FerryPipeline
import FerryRecord
import FerryWebReporter

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// All calls of the control API (docs/api.md), each with what it needs.
final class ControlCalls: Sendable {
    /// What every call's path begins with.
    static let prefix = "/api/v1"

    let services: Services
    let limits: ControlLimits
    let book: InstallBook
    let uploads: UploadFolder
    let archives: ArchiveFolder
    let metrics: Metrics
    let gate: Gate
    let heavy: Slots

    init(
        services: Services,
        limits: ControlLimits,
        book: InstallBook,
        folder: String,
        metrics: Metrics,
        gate: Gate
    ) {
        self.services = services
        self.limits = limits
        self.book = book
        uploads = UploadFolder(path: folder + "/uploads", limits: limits)
        archives = ArchiveFolder(path: folder + "/archives", limits: limits)
        self.metrics = metrics
        self.gate = gate
        heavy = Slots(limits.heavyCalls)
    }

    /// Every route.
    var routes: [Routes.Route] {
        let calls: [Routes.Route] = [
            call("GET", "", .viewer) { try await self.about($1) },
            call("GET", "/installs", .viewer, list),
            call("POST", "/installs", .admin, add),
            call("GET", "/installs/{id}", .viewer) { try await self.one($0) },
            call("POST", "/installs/{id}/hold", .admin) { try await self.order(.hold, $0) },
            call("POST", "/installs/{id}/release", .admin) { try await self.order(.release, $0) },
            call("POST", "/installs/{id}/cancel", .admin) { try await self.order(.cancel, $0) },
            call("POST", "/installs/{id}/retry", .admin, retry),
            call("GET", "/installs/{id}/icon", .viewer, icon),
            call("GET", "/installs/{id}/archive", .viewer, archive),
            call("GET", "/installs/{id}/verify", .viewer, verify),
            call("POST", "/installs/{id}/installed", .device, installed),
            call("POST", "/installs/{id}/link", .admin, makeLink),
            call("DELETE", "/installs/{id}/link", .admin, revokeLink),
            call("POST", "/hold", .admin) { try await self.orderAll(.hold, $0) },
            call("POST", "/release", .admin) { try await self.orderAll(.release, $0) },
            call("POST", "/uploads", .admin, bodyLimit: limits.uploadBytes, upload),
            call("DELETE", "/uploads/{id}", .admin, removeUpload),
            call("POST", "/plan", .admin, plan),
            call("GET", "/sources", .viewer, sources),
            call("GET", "/sources/{name}/apps", .viewer, apps),
            call("GET", "/events", .viewer, events),
            call("GET", "/island", .viewer) { _ in .json(self.services.web.island()) },
            call("PUT", "/island/tokens", .device, islandToken),
            call("POST", "/island/liveness", .device, islandLiveness),
        ]
        return calls + [
            .now("GET", Self.prefix + "/openapi.json") { _ in
                .bytes(PackageResources.openapi_json, type: "application/json", headers: ["Cache-Control": "no-cache"])
            },
            .now("GET", "/healthz") { _ in .text("ok\n", headers: ["Cache-Control": "no-store"]) },
            call("GET", "/metrics", .viewer, at: "") { _ in
                let text = await self.metrics.text(
                    self.services.center.activity,
                    viewers: self.services.web.viewerCount
                )
                return .bytes(
                    Array(text.utf8),
                    type: "text/plain; version=0.0.4; charset=utf-8",
                    headers: ["Cache-Control": "no-store"]
                )
            },
        ]
    }

    /// A call that only the holder of such a token may make.
    private func call(
        _ method: String,
        _ pattern: String,
        _ need: Need,
        bodyLimit: Int? = nil,
        at prefix: String = prefix,
        _ handler: @escaping @Sendable (Request) async throws -> Response
    ) -> Routes.Route {
        call(method, pattern, need, bodyLimit: bodyLimit, at: prefix) { request, _ in try await handler(request) }
    }

    /// The same, whose handler is told with which role it was asked.
    private func call(
        _ method: String,
        _ pattern: String,
        _ need: Need,
        bodyLimit: Int? = nil,
        at prefix: String = prefix,
        _ handler: @escaping @Sendable (Request, Role) async throws -> Response
    ) -> Routes.Route {
        Routes.Route(method, prefix + pattern) { [gate, limits] request in
            let role: Role
            do throws(Problem) {
                if let trespass = gate.trespass(request) { throw trespass }
                role = try gate.role(of: request, for: need)
            } catch {
                return .now(error.response)
            }
            return .later(bodyLimit: bodyLimit ?? limits.bodyBytes) {
                do {
                    return try await handler(request, role)
                } catch {
                    return Problem(error).response
                }
            }
        }
    }

    // MARK: What there is

    private func about(_ role: Role) async throws -> Response {
        var object = JSONObject()
        object.add("name", "Ferry")
        object.add("version", services.version)
        object.add("role", role.rawValue)
        object.add("target", services.target)
        object.add("signs", services.signs)
        var parts = JSONObject()
        parts.add("uploadBytes", limits.uploadBytes)
        object.add("limits", parts)
        object.add("sources", try services.sources())
        return .json(object.json)
    }

    private func sources(_ request: Request) async throws -> Response {
        var object = JSONObject()
        object.add("sources", try services.sources())
        return .json(object.json)
    }

    private func apps(_ request: Request) async throws -> Response {
        let name = request.parameters["name"] ?? ""
        guard let text = try await services.apps(name, String((request.query("search") ?? "").prefix(200))) else {
            throw Problem(
                404,
                "“\(name.prefix(100).printable)” is no source here.",
                remedy: "Name one with ferry source add NAME URL; GET /api/v1/sources lists them."
            )
        }
        return .json(text)
    }

    private func events(_ request: Request) async throws -> Response {
        let letIn = services.now()
        let id = request.headers["Last-Event-ID"] ?? request.query("after")
        guard let events = services.web.events(after: id) else {
            throw Problem(503, "There are as many viewers as there may be.", headers: ["Retry-After": "30"])
        }
        return Response(
            headers: [
                "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
            ],
            body: .stream { [services, limits, gate] writer in
                // A viewer whose token was removed is told nothing more. It hears something every few seconds at the
                // least, so it need not be looked for.
                var checked = letIn
                for await piece in events {
                    let now = services.now()
                    if abs(now.timeIntervalSince(checked)) >= limits.tokenPause {
                        guard gate.isStillGood(request, for: .viewer) else { return }
                        checked = now
                    }
                    try await writer.write(piece)
                }
            }
        )
    }

    // MARK: What a phone reports

    private func islandToken(_ request: Request) async throws -> Response {
        let body = try await JSONBody(request)
        let token = try body.required("token")
        guard token.utf8.count % 2 == 0, token.utf8.count <= 1_024, [UInt8](hex: token) != nil else {
            throw Problem(400, "“token” is no even number of hexadecimal digits, or more than 1,024.")
        }
        switch try body.required("kind") {
        case "pushToStart": return try report(.startToken(token))
        case "update": return try report(.updateToken(activity: try body.required("activityID"), token: token))
        default: throw Problem(400, "“kind” is neither “pushToStart” nor “update”.")
        }
    }

    private func islandLiveness(_ request: Request) async throws -> Response {
        guard let seq = try await JSONBody(request).number("seq", in: 1...500_000_000) else {
            throw Problem(400, "“seq” is missing.")
        }
        return try report(.seen(Int(seq)))
    }

    private func report(_ report: IslandReport) throws -> Response {
        guard try services.island(report) else {
            throw Problem(
                404,
                "This server drives no Live Activity.",
                remedy: "Start ferry serve with --reporter apns:CONFIG."
            )
        }
        return Response(status: 204)
    }
}

/// A number of places for work that takes every core.
final class Slots: Sendable {
    private let free: Guarded<Int>

    init(_ count: Int) {
        free = Guarded(count)
    }

    /// Runs `body`, or refuses where all places are taken.
    func run<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        let isFree = free.withLock { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
        guard isFree else { throw Problem.tooOften(1, "Too much is being checked at this moment.") }
        defer { free.withLock { $0 += 1 } }
        return try await body()
    }
}
