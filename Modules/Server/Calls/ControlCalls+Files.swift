import FerryActivity
import FerryBytes
import FerryCodeSignature
import FerryHTTP
import FerryPipeline
import FerryRecord
import FerrySigning

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ControlCalls {
    // MARK: Uploads

    func upload(_ request: Request) async throws -> Response {
        if let length = request.body.expectedLength, length > limits.uploadBytes {
            throw Problem(413, "The archive has \(length) bytes; \(limits.uploadBytes) are allowed.")
        }
        let upload: Upload
        do {
            upload = try await uploads.receive(
                request.body,
                name: request.query("name") ?? "",
                at: services.now()
            )
        } catch BodyError.tooLarge {
            throw Problem(413, "The archive has more than the \(limits.uploadBytes) bytes that are allowed.")
        } catch let failure as FileFailure where failure.isFullDisk {
            throw Problem(507, "The server's disk is full.", remedy: "Make room there, and send the archive again.")
        }
        var object = JSONObject()
        object.add("id", upload.id)
        object.add("name", upload.name)
        object.add("byteCount", upload.byteCount)
        object.add("sha256", upload.sha256.hex)
        var response = Response.json(object.json, status: 201)
        response.headers["Location"] = Self.prefix + "/uploads/" + upload.id
        return response
    }

    func removeUpload(_ request: Request) async throws -> Response {
        let id = request.parameters["id"] ?? ""
        if let upload = await uploads[id], await isNeeded(upload.path) {
            throw Problem(409, "An install reads this archive.", remedy: "Wait for it, or cancel it.")
        }
        guard await uploads.remove(id) else { throw Problem(404, "There is no archive of that id, or no longer.") }
        return Response(status: 204)
    }

    /// Whether an install that has not ended reads a file, or one that may be tried again.
    func isNeeded(_ path: String) async -> Bool {
        let activity = await services.center.activity
        if book.installs(of: path).contains(where: { activity[$0]?.isFinished == false }) { return true }
        guard let record = services.record, let installs = try? await record.installs(all: false) else { return false }
        return installs.contains { $0.request.source.text == path }
    }

    // MARK: Plans and checks

    func plan(_ request: Request) async throws -> Response {
        let body = try await JSONBody(request)
        guard let upload = await uploads[try body.required("upload")] else {
            throw Problem(404, "There is no archive of that id, or no longer.")
        }
        do {
            guard let preview = try await heavy.run({ try await services.preview(upload.path) }) else {
                return .json(PlanAnswer.unsigned)
            }
            return .json(try PlanAnswer.json(preview, path: upload.path, name: upload.name))
        } catch let error as SignError where error.code == .refused {
            return .json(PlanAnswer.refused(error, path: upload.path, name: upload.name))
        }
    }

    /// The signed archive of an install, and what to call it; throws where there is none.
    private func signedArchive(_ request: Request) async throws -> (name: String, path: String) {
        let id = id(request)
        let (title, version, outcome): (String, String?, Outcome?)
        if let install = await services.center.activity[id] {
            (title, version, outcome) = (install.title, install.version, install.outcome)
        } else if let install = try await recorded(id) {
            (title, version, outcome) = (install.title, install.version, install.outcome)
        } else {
            throw Problem.noInstall(id.rawValue)
        }
        guard services.signs, outcome?.isInstalled == true else {
            throw Problem(404, "\(id): there is no signed archive, or not yet.")
        }
        return ((title + (version.map { " " + $0 } ?? "") + ".ipa").printable, archives.path(of: id))
    }

    private func open(_ path: String) throws -> FileSource {
        do {
            return try FileSource(path: path)
        } catch {
            throw Problem(410, "The signed archive is no longer kept.", remedy: "Install the app again.")
        }
    }

    func archive(_ request: Request) async throws -> Response {
        let (name, path) = try await signedArchive(request)
        return .file(
            FileBody(try open(path)),
            type: "application/octet-stream",
            headers: [
                "Content-Disposition": "attachment; filename*=UTF-8''\(name.percentEncoded)",
                "Cache-Control": "private, no-cache",
            ]
        )
    }

    func verify(_ request: Request) async throws -> Response {
        let (_, path) = try await signedArchive(request)
        _ = try open(path)
        let faults = try await heavy.run { try await services.verify(path) }
        var object = JSONObject()
        object.add(
            "faults",
            faults.map { fault in
                var object = JSONObject()
                object.add("code", fault.code.rawValue)
                object.add("place", fault.place)
                object.add("message", fault.message)
                object.add("remedy", fault.remedy)
                object.add("severity", fault.isWarning ? "warning" : "error")
                return object
            }
        )
        object.add("verified", faults.allSatisfy(\.isWarning))
        return .json(object.json)
    }

    // MARK: Links

    func makeLink(_ request: Request) async throws -> Response {
        let id = id(request)
        let seconds = try await JSONBody(request).number("seconds", in: 60...2_592_000) ?? 3_600
        guard await services.center.activity[id] != nil else { throw Problem.noInstall(id.rawValue) }
        guard let link = try await services.links.make(id, Int(seconds)) else {
            throw Problem(409, "\(id): there is no app to offer over the air.")
        }
        var object = JSONObject()
        object.add("url", link.url)
        object.add("expiresAt", link.expiresAt.isoText)
        return .json(object.json)
    }

    func revokeLink(_ request: Request) async throws -> Response {
        let id = id(request)
        guard try await services.links.revoke(id) else {
            throw Problem(404, "\(id.rawValue.prefix(100).printable): there is no link.")
        }
        return Response(status: 204)
    }

    func installed(_ request: Request) async throws -> Response {
        let id = id(request)
        guard try await services.links.installed(id) else { throw Problem.noInstall(id.rawValue) }
        return Response(status: 204)
    }
}

extension String {
    /// RFC 3986 §2.3: all but unreserved characters as `%` and two digits.
    var percentEncoded: String {
        var text = ""
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "%" + [byte].hex.uppercased()
            }
        }
        return text
    }
}
