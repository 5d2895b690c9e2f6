import FerryActivity
import FerryBytes
import FerryHTTP
import FerryPipeline
import FerryRecord
import FerryWebReporter

extension ControlCalls {
    // MARK: Looking

    func list(_ request: Request) async throws -> Response {
        let given = request.query("all") ?? "false"
        guard ["true", "false"].contains(given) else { throw Problem(400, "“all” is neither true nor false.") }
        let all = given == "true"
        // The id before the state: what came in between is told again, and changes nothing then.
        let lastEventID = services.web.lastEventID
        let activity = await services.center.activity
        var installs: [JSONObject] = []
        if let record = services.record {
            let own = Set(activity.installs.map(\.id))
            installs = try await record.installs(all: all).filter { !own.contains($0.id) }.map { book.object($0) }
        }
        installs += activity.installs.map { book.object($0) }
        var object = JSONObject()
        object.add("installs", installs)
        object.add("lastEventID", lastEventID)
        return .json(object.json)
    }

    func one(_ request: Request) async throws -> Response {
        .json(try await object(id(request)).json)
    }

    func id(_ request: Request) -> InstallID { InstallID(request.parameters["id"] ?? "") }

    /// An install of this process or of the record.
    private func object(_ id: InstallID) async throws -> JSONObject {
        if let install = await services.center.activity[id] { return book.object(install) }
        guard let recorded = try await recorded(id) else { throw Problem.noInstall(id.rawValue) }
        return book.object(recorded)
    }

    func recorded(_ id: InstallID) async throws -> RecordedInstall? {
        try await services.record?.installs(all: true).first { $0.id == id }
    }

    func icon(_ request: Request) async throws -> Response {
        let id = id(request)
        guard let install = await services.center.activity[id] else { throw Problem.noInstall(id.rawValue) }
        guard let icon = install.icon else { throw Problem(404, "\(id): its icon is not known, or it has none.") }
        return .bytes(icon, type: "image/jpeg", headers: ["Cache-Control": "private, max-age=3600"])
    }

    // MARK: Adding

    func add(_ request: Request) async throws -> Response {
        let body = try await JSONBody(request)
        let ways = ["url", "source", "upload"].filter(body.has)
        guard ways.count == 1 else {
            throw Problem(
                400,
                ways.isEmpty
                    ? "The body says nothing of where the app is."
                    : "The body has both \(ways.joined(separator: " and ")).",
                remedy: "Give one of “url”, “source” with “app”, and “upload”."
            )
        }
        var shown = ""
        var wanted = WantedInstall(origin: .url(""))
        switch ways[0] {
        case "url":
            let url = try body.required("url")
            guard Self.isWebURL(url) else {
                throw Problem(
                    400,
                    "“url” is no http or https address.",
                    remedy: "Files are sent with POST /api/v1/uploads."
                )
            }
            wanted.origin = .url(url)
            shown = RecordedSource(url).text
        case "source":
            let source = try body.required("source")
            let app = try body.required("app")
            guard try services.sources().contains(source) else {
                throw Problem(404, "“\(source.prefix(100).printable)” is no source here.")
            }
            wanted.origin = .app(app, source: source, version: try body.text("version"))
            shown = "\(source): \(app)"
        default:
            let id = try body.required("upload")
            guard let upload = await uploads[id] else {
                throw Problem(
                    404,
                    "There is no archive of that id, or no longer.",
                    remedy: "Send it again with POST /api/v1/uploads."
                )
            }
            wanted.origin = .upload(path: upload.path)
            wanted.title = upload.name
            shown = upload.name
        }
        wanted.title = try body.text("title", limit: 400)?.printable ?? wanted.title
        if let text = try body.text("sha256") {
            guard let digest = [UInt8](hex: text), digest.count == 32 else {
                throw Problem(400, "“sha256” is not 64 hexadecimal digits.")
            }
            wanted.sha256 = digest
        }
        let held = try body.flag("held")
        return try await begin(try await services.request(wanted), source: shown, held: held)
    }

    /// Begins an install and tells where it is.
    private func begin(_ request: InstallRequest, source: String, held: Bool) async throws -> Response {
        let id = InstallID.random()
        let request = keeping(request, id)
        book.add(id, InstallBook.Entry(request: request, source: source))
        _ = await services.pipeline.submit(request, as: id, held: held)
        var response = Response.json(try await object(id).json, status: 201)
        response.headers["Location"] = Self.prefix + "/installs/" + id.rawValue
        return response
    }

    /// The same, whose signed archive is kept for a while.
    private func keeping(_ request: InstallRequest, _ id: InstallID) -> InstallRequest {
        var request = request
        if request.signing != nil { request.signedArchive = archives.path(of: id) }
        return request
    }

    /// Goes on with an install of the record.
    func goOn(_ install: RecordedInstall, _ request: InstallRequest) async throws {
        let request = keeping(request, install.id)
        if book[install.id] == nil {
            book.add(install.id, InstallBook.Entry(request: request, source: book.source(of: install)))
        }
        try await services.pipeline.resume(install.id, request)
    }

    private static func isWebURL(_ text: String) -> Bool {
        let lower = text.prefix(8).lowercased()
        let rest = lower.hasPrefix("https://") ? text.dropFirst(8) : lower.hasPrefix("http://") ? text.dropFirst(7) : ""
        return !rest.isEmpty && rest.utf8.first != UInt8(ascii: "/")
            && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }

    // MARK: Orders

    func order(_ order: InstallOrder, _ request: Request) async throws -> Response {
        let id = id(request)
        if let install = await services.center.activity[id] {
            guard !install.isFinished else { throw ended(id, install.label) }
            switch order {
            case .hold: await services.pipeline.hold(id)
            case .release: await services.pipeline.release(id)
            case .cancel: await services.pipeline.cancel(id)
            }
            return .json(try await object(id).json)
        }
        guard let record = services.record, let before = try await recorded(id) else {
            throw Problem.noInstall(id.rawValue)
        }
        guard before.outcome == nil || (order == .cancel && before.outcome?.failure != nil) else {
            throw ended(id, "\(before.stage.rawValue)")
        }
        let standing = try await record.order(order, [id])[id]
        if order == .cancel, before.process == nil, standing?.isFinished == true { services.files?.remove(id) }
        return .json(try await object(id).json)
    }

    private func ended(_ id: InstallID, _ how: String) -> Problem {
        Problem(409, "\(id): this install has ended (\(how)).", remedy: "POST …/retry begins it anew.")
    }

    func orderAll(_ order: InstallOrder, _ request: Request) async throws -> Response {
        let own = await services.center.activity.unfinished
        let ids = own.filter { $0.isHeld != (order == .hold) }.map(\.id)
        if order == .hold { await services.pipeline.holdAll() } else { await services.pipeline.releaseAll() }
        var count = ids.count
        if let record = services.record {
            let ours = Set(own.map(\.id))
            let others = try await record.installs(all: false).filter {
                !ours.contains($0.id) && $0.outcome == nil && $0.isHeld != (order == .hold)
            }
            if !others.isEmpty { count += try await record.order(order, others.map(\.id)).count }
        }
        var object = JSONObject()
        object.add("installs", count)
        return .json(object.json)
    }

    func retry(_ request: Request) async throws -> Response {
        let id = id(request)
        let install = await services.center.activity[id]
        if let install, !install.isFinished {
            throw Problem(409, "\(id): this install has not ended.", remedy: "Wait for it, or cancel it.")
        }
        let known = book[id]
        let recorded = try await recorded(id)
        guard install != nil || recorded != nil else { throw Problem.noInstall(id.rawValue) }
        if install?.outcome?.isInstalled == true || recorded?.outcome?.isInstalled == true {
            throw Problem(409, "\(id): the app is installed.", remedy: "Add it once more with POST /api/v1/installs.")
        }
        if let recorded, recorded.canRetry {
            let again: InstallRequest
            if let known { again = known.request } else { again = try await services.recorded(recorded) }
            try await goOn(recorded, again)
            return .json(try await object(id).json)
        }
        if let process = recorded?.process, recorded?.outcome == nil {
            throw Problem(409, "\(id): process \(process) runs this install.", remedy: "Wait for it, or cancel it.")
        }
        // One that somebody ended, or that is in no record, begins as a new one.
        let again: InstallRequest
        if let known {
            again = known.request
        } else if let recorded {
            again = try await services.recorded(recorded)
        } else {
            throw Problem(409, "\(id): it was not begun by this server.", remedy: "Begin it where it was begun.")
        }
        return try await begin(again, source: known?.source ?? recorded.map { book.source(of: $0) } ?? "", held: false)
    }
}
