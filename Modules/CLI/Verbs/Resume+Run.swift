import FerryActivity
import FerryBytes
import FerryPipeline
import FerryRecord
import FerrySigning

extension Resume {
    static func run(_ invocation: Invocation) async throws -> ExitCode {
        try await invocation.withRecord { record in
            let installs = try await record.installs(all: true)
            let chosen = try invocation.chosen(from: installs) { install in
                install.outcome == nil && install.process == nil && !install.isCancelled
            }
            guard !chosen.isEmpty else {
                invocation.console.note(nothingStopped(installs))
                return .done
            }
            let url = invocation.arguments.value("--url")
            guard url == nil || chosen.count == 1 else {
                throw UsageError(.invalidValue, "--url goes with one ID.", verb: "resume")
            }
            var items: [InstallRun.Item] = []
            var refused: [(source: String, error: any Error)] = []
            // Those of one call have one identity, whose password is asked for once.
            var known: [[String: [String]]: SigningOptions] = [:]
            for install in chosen {
                do {
                    items += try await self.items(install, url: url, invocation, &known)
                } catch is CancellationError {
                    throw CancellationError()
                } catch {
                    refused.append((install.request.source.text, error))
                }
            }
            return try await InstallRun(invocation: invocation, record: record).run(items, refused: refused)
        }
    }

    /// What failed is gone on with by its name alone: as a rule something has to be put right first.
    private static func nothingStopped(_ installs: [RecordedInstall]) -> String {
        let failed = installs.filter { $0.process == nil && $0.outcome?.failure != nil }
        let text = "Nothing was stopped on its way."
        guard let last = failed.last else { return text }
        return text
            + (failed.count == 1
                ? " One failed: “ferry resume \(last.id)” tries it again."
                : " \(failed.count) failed: “ferry resume \(last.id)” tries the last of them again.")
    }

    private static func items(
        _ install: RecordedInstall,
        url: String?,
        _ invocation: Invocation,
        _ known: inout [[String: [String]]: SigningOptions]
    ) async throws -> [InstallRun.Item] {
        // Refused before a password is asked for.
        switch install.outcome {
        case .installed, .delivered, .cancelled:
            throw RecordError(
                .finished,
                "\(install.id): this install has ended (\(install.stateWord)).",
                remedy: "Start it anew with “ferry install”."
            )
        case .failed, nil: break
        }
        if let process = install.process {
            throw RecordError(
                .running,
                "\(install.id): process \(process) runs this install.",
                remedy: "Wait for it, or end it with “ferry cancel \(install.id)”."
            )
        }
        let source = try source(install, url: url, invocation)
        var given = install.request.options
        // Of an app from a list, it is the list's address that --url gives.
        if install.request.list != nil, let url { given[Option.source.name] = [url] }
        if let file = invocation.arguments.value("--password-file") { given["--password-file"] = [file] }
        let asked = Invocation(
            program: invocation.program,
            arguments: ParsedArguments(Install.verb, given: given),
            console: invocation.console,
            environment: invocation.environment
        )
        let options: SigningOptions
        if let there = known[given] {
            options = there
        } else {
            options = try await asked.signingOptions()
            known[given] = options
        }
        return try await Install.items([source], options, asked, isRecorded: true).map { item in
            var item = item
            item.id = install.id
            return item
        }
    }

    /// The source again, or the app of a list, once it is known that all of its address is there.
    static func source(_ install: RecordedInstall, url: String?, _ invocation: Invocation) throws -> String {
        let request = install.request
        let place = request.list ?? request.source
        if let url {
            guard place.isPart(of: url) else {
                throw UsageError(
                    .invalidValue,
                    "--url is another address than that of \(install.id), which is \(place.text).",
                    verb: "resume"
                )
            }
            return request.list == nil ? url : request.source.text
        }
        guard !place.isShortened else {
            throw UsageError(
                .missingOption,
                "\(install.id): its address had a password or a token in it, which was not written down.",
                advice: "Give it again: ferry resume \(install.id) --url URL, where URL begins with \(place.text).",
                verb: "resume"
            )
        }
        guard request.list == nil || invocation.isLasting(place.text) else {
            throw InputError(
                message: "\(install.id): its list came from \(place.text), which ended with the first process.",
                remedy: "Start it anew with “ferry install”."
            )
        }
        return request.source.text
    }
}
