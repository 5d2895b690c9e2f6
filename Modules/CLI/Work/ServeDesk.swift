import FerryAPNsReporter
import FerryActivity
import FerryAppBundle
import FerryBytes
import FerryCatalog
import FerryInstalling
import FerryLiveActivity
import FerryPipeline
import FerryRecord
import FerryServer
import FerrySigning
import FoundationEssentials

/// Makes of what is asked of a server what the rest of the command understands.
struct ServeDesk: Sendable {
    let target: TargetChoice
    /// With what apps are signed; `nil` where they are not.
    let options: SigningOptions?
    let signer: Signer
    private let invocation: Invocation
    private let given: [String: [String]]

    init(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        self.invocation = invocation
        let target = try await TargetChoice(arguments.required("--to")).settled()
        self.target = target
        let signs = [Option].signing.contains { arguments.isGiven($0.name) }
        options = signs ? try await invocation.signingOptions() : nil
        signer = invocation.signer(cache: invocation.archiveCache)
        // Also where nothing was given: an install says where it goes.
        given = try invocation.recordedOptions().merging(["--to": [target.text]]) { given, settled in
            // A folder's place is written down for whichever folder a later process runs in.
            if case .device = target { settled } else { given }
        }
    }

    /// Takes an install that is wanted for one of `ferry install`, so that both are written down and gone on with alike.
    func request(_ wanted: WantedInstall) async throws -> InstallRequest {
        var own: [String: [String]] = [:]
        if let sha256 = wanted.sha256 { own[Self.digest] = [sha256.hex] }
        var request: InstallRequest
        switch wanted.origin {
        case .url(let url): request = try await item(url, own)
        case .upload(let path): request = try await item(path, own)
        case .app(let app, let source, let version):
            own[Option.source.name] = [source]
            request = try await item(app + (version.map { "@" + $0 } ?? ""), own)
        }
        if let title = wanted.title { request.title = title }
        return request
    }

    /// Options of single installs, beside those of this server.
    private static let digest = "--sha256"
    private static let single = [digest, Option.source.name]

    private func item(_ name: String, _ own: [String: [String]]) async throws -> InstallRequest {
        let asked = Invocation(
            program: invocation.program,
            arguments: ParsedArguments(Install.verb, given: given.merging(own) { $1 }),
            console: invocation.console,
            environment: invocation.environment
        )
        let items = try await Install.items(
            [name],
            options ?? SigningOptions(.left, profiles: []),
            asked,
            isRecorded: true
        )
        guard var request = items.first?.request else {
            throw InputError(message: "\(name.printable): nothing is known of it.", remedy: nil)
        }
        if options == nil {
            request.signing = nil
            request.signingFingerprint = nil
        }
        return request
    }

    /// The same for an install of the record, if it was asked for as this server asks.
    func recorded(_ install: RecordedInstall) async throws -> InstallRequest {
        let asked = install.request.options
        guard asked.filter({ !Self.single.contains($0.key) }) == given else {
            throw RecordError(
                .finished,
                "\(install.id): it was begun with other options than this server has.",
                remedy: "Go on with it by “ferry resume \(install.id)”."
            )
        }
        let name = try Resume.source(install, url: nil, invocation)
        var request = try await item(name, asked.filter { Self.single.contains($0.key) })
        request.title = install.title
        return request
    }

    /// Goes on with what an earlier server left; says of what it cannot.
    func goOn(_ record: SQLiteRecord, _ server: ControlServer, _ console: Console) async {
        guard let left = try? await record.installs(all: false) else { return }
        for install in left where install.outcome == nil && install.process == nil && !install.isCancelled {
            do {
                try await server.goOn(install, try await recorded(install))
            } catch let error as any ExplainedError {
                console.note("\(error.message.printable) \(error.remedy?.printable ?? "")")
            } catch {
                console.note("\(install.id): \(error)")
            }
        }
    }

    /// Gives a server all that it asks of the command.
    func fill(_ services: inout Services) {
        let invocation = invocation
        let (options, signer) = (options, signer)
        services.recorded = recorded
        services.preview = { path in
            guard let options else { return nil }
            return try await signer.preview(SigningRequest(input: path, output: "", options: options))
        }
        services.verify = { path in
            try await invocation.verifier().verify(path, for: TargetDevice(identifier: nil, platform: nil, system: nil))
        }
        services.sources = { try invocation.sourceBook.read().entries.map(\.name) }
        services.apps = { name, search in
            guard try invocation.sourceBook.read().url(named: name) != nil else { return nil }
            return try jsonText(Apps(try await invocation.source(name).source, search))
        }
        let islands = invocation.arguments.values("--reporter").compactMap { text in
            if case .apns(let path)? = ReporterChoice(text) { path } else { nil }
        }
        services.island = { report in
            for path in islands {
                let configuration = try IslandConfiguration(path: path)
                try IslandFolder(configuration, in: try invocation.islandFolder()).send(try report.message)
            }
            return !islands.isEmpty
        }
    }

    /// The apps of a source, as the control API tells them.
    private struct Apps: Encodable {
        struct App: Encodable {
            let name: String
            let identifier: String
            let version: String?
            let developer: String?
            let size: Int64?
            let icon: String?
        }

        /// So many are told at once.
        static let limit = 500

        let apps: [App]
        let problems: [String]

        init(_ source: AppSource, _ search: String) {
            let words = search.lowercased().split(separator: " ").map(String.init)
            let found = source.apps.filter { SourceVerb.isMatch($0, words) }
            apps = found.prefix(Self.limit).map { app in
                App(
                    name: app.name,
                    identifier: app.identifier,
                    version: app.versions.first?.version,
                    developer: app.developer,
                    size: app.versions.first?.byteCount,
                    icon: app.iconURL
                )
            }
            problems = source.problems.prefix(20).map(\.description)
        }
    }
}

extension IslandReport {
    /// The same as the island's folder has it.
    fileprivate var message: IslandMessage {
        get throws {
            switch self {
            case .startToken(let token): return .pushToStartToken(try Self.token(token))
            case .updateToken(let activity, let token):
                guard let id = IslandID(rawValue: activity) else {
                    throw InputError(
                        message: "“activityID” is no activity's id.",
                        remedy: "Send the one that the phone has."
                    )
                }
                return .updateToken(id, try Self.token(token))
            case .seen(let seq): return .widgetSaw(seq)
            }
        }
    }

    private static func token(_ text: String) throws -> PushToken {
        guard let token = PushToken(hex: text) else {
            throw InputError(message: "“token” is no push token.", remedy: "Send it in hexadecimal digits.")
        }
        return token
    }
}
