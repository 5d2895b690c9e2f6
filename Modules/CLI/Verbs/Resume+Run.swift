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
                invocation.console.note("Nothing was stopped on its way.")
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
                    items.append(try await item(install, url: url, invocation, &known))
                } catch is CancellationError {
                    throw CancellationError()
                } catch {
                    refused.append((install.request.source.text, error))
                }
            }
            return try await InstallRun(invocation: invocation, record: record).run(items, refused: refused)
        }
    }

    private static func item(
        _ install: RecordedInstall,
        url: String?,
        _ invocation: Invocation,
        _ known: inout [[String: [String]]: SigningOptions]
    ) async throws -> InstallRun.Item {
        // Refused before a password is asked for.
        switch install.outcome {
        case .installed, .cancelled:
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
        let source = try source(install, url: url)
        var given = install.request.options
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
        var item = try Install.item(source, options, asked, isRecorded: true)
        item.id = install.id
        return item
    }

    private static func source(_ install: RecordedInstall, url: String?) throws -> String {
        let recorded = install.request.source
        if let url {
            guard recorded.isPart(of: url) else {
                throw UsageError(
                    .invalidValue,
                    "--url is another address than that of \(install.id), which is \(recorded.text).",
                    verb: "resume"
                )
            }
            return url
        }
        guard !recorded.isShortened else {
            throw UsageError(
                .missingOption,
                "\(install.id): its address had a password or a token in it, which was not written down.",
                advice: "Give it again: ferry resume \(install.id) --url URL, where URL begins with \(recorded.text).",
                verb: "resume"
            )
        }
        return recorded.text
    }
}
