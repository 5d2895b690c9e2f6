import FerryActivity
import FerryBytes
import FerryPipeline
import FerrySigning
import FerryTerminalReporter

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension Sign {
    /// What became of one archive for one identity.
    enum Fate: Sendable {
        case signed(SignedArchive)
        /// Its output stayed as it was.
        case skipped
        case failed(any Error)
        /// Nothing was begun, as another one had failed or somebody asked for the end.
        case notBegun
    }

    /// Signs several archives, or for several identities, and reports of all.
    static func runMany(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        if arguments.value("--list") == "-", arguments.value("--password-file") == "-" {
            throw UsageError(
                .conflictingOptions,
                "--list - and --password-file - both read standard input.",
                advice: "Give one of them a file.",
                verb: verb.name
            )
        }
        let list = try arguments.value("--identities").map { path in
            try IdentityList(json: InputFile.bytes(path), file: path)
        }
        let plan = try ManyPlan(
            invocation.archivePaths(),
            identities: list?.entries.map(\.name) ?? [],
            folder: arguments.required("--output"),
            skipsExisting: arguments.flag("--skip-existing")
        )
        let options = try await invocation.signingOptions(of: list)
        let made = try plan.makeFolders()
        // Those with something in them stay.
        defer { for folder in made { rmdir(folder) } }

        let start = ContinuousClock.now
        let works = Handoff<Task<[Ending], Never>>()
        let (endings, session, isCancelled) = try await Session.run(
            invocation,
            onCommand: { if $0 == .cancelAll { await works.value?.cancel() } }
        ) { session in
            let batch = ManySignings(
                plan: plan,
                options: options,
                signer: invocation.signer(cache: invocation.archiveCache),
                center: session.center,
                atOnce: arguments.number("--jobs") ?? standardJobs(cores: invocation.coreCount),
                stopsAtFailure: arguments.flag("--stop-at-first-failure")
            )
            // Owned here: the key q and ctrl-C cancel it.
            let work = Task { await batch.run() }
            await works.put(work)
            return await withTaskCancellationHandler {
                (await work.value, session, work.isCancelled)
            } onCancel: {
                work.cancel()
            }
        }
        let report = ManyReport(plan.items, endings, seconds: (ContinuousClock.now - start).inSeconds)
        if !session.showsTerminal, !invocation.asData {
            for case .failed(let error) in endings.map(\.fate) { invocation.console.report(error) }
        }
        let marks = Marks(invocation.console.output.hasStyle)
        try invocation.show(report, text: report.text(marks), in: session)
        return exitCode(endings.map(\.fate), isCancelled: isCancelled)
    }

    /// How many archives are signed at once where nobody says: a second one fills the gaps of the first, such as the sync
    /// at its end, and on many cores more do, as the largest file of an archive keeps one core busy alone.
    static func standardJobs(cores: Int) -> Int {
        max(2, min(8, cores / 4))
    }

    /// What became of an item, and how long it took.
    struct Ending: Sendable {
        var fate = Fate.notBegun
        /// `nil` where nothing was begun.
        var seconds: Double?
    }

    /// 130 where somebody asked for the end before all was done; else 3 where all that failed were refused, and 1 where
    /// others failed too.
    static func exitCode(_ fates: [Fate], isCancelled: Bool) -> ExitCode {
        var codes: Set<ExitCode> = []
        for fate in fates {
            switch fate {
            case .signed, .skipped: break
            case .failed(let error): codes.insert(ExitCode(error))
            case .notBegun: if isCancelled { codes.insert(.cancelled) }
            }
        }
        if codes.contains(.cancelled) { return .cancelled }
        return codes.isEmpty ? .done : codes == [.refused] ? .refused : .failed
    }
}

/// Signs what a plan says, a few at once, on the threads of one signer.
private struct ManySignings: Sendable {
    let plan: ManyPlan
    /// By the identity's name; under an empty one where there is no list.
    let options: [String: SigningOptions]
    let signer: Signer
    let center: ActivityCenter
    let atOnce: Int
    let stopsAtFailure: Bool

    /// Gives what became of each item, in their order.
    func run() async -> [Sign.Ending] {
        var endings = plan.items.map { Sign.Ending(fate: $0.isSkipped ? .skipped : .notBegun) }
        let due = plan.items.indices.filter { !plan.items[$0].isSkipped }
        for index in due {
            await center.send(.added(id(index), title: title(index)))
        }
        await withTaskGroup(of: (Int, Sign.Ending).self) { group in
            var rest = due[...]
            for index in rest.prefix(max(1, atOnce)) {
                group.addTask { (index, await sign(index)) }
            }
            rest = rest.dropFirst(max(1, atOnce))
            for await (index, ending) in group {
                endings[index] = ending
                if case .failed = ending.fate, stopsAtFailure { rest = [] }
                guard !Task.isCancelled, let next = rest.popFirst() else { continue }
                group.addTask { (next, await sign(next)) }
            }
        }
        for index in due {
            guard case .notBegun = endings[index].fate else { continue }
            await center.send(.finished(id(index), .cancelled))
        }
        return endings
    }

    private func sign(_ index: Int) async -> Sign.Ending {
        let item = plan.items[index]
        guard let options = options[item.identity ?? ""] else {
            preconditionFailure("There are options for every identity of the plan.")
        }
        let start = ContinuousClock.now
        await center.send(.stage(id(index), .signing))
        let fate: Sign.Fate
        do {
            let signing = signer.sign(SigningRequest(input: item.input, output: item.output, options: options))
            let signed = try await center.follow(signing, of: id(index), titled: title(index))
            await center.send(.finished(id(index), .installed(location: signed.path)))
            fate = .signed(signed)
        } catch {
            await center.send(.finished(id(index), InstallPipeline.outcome(of: error, in: .signing)))
            fate = .failed(error)
        }
        return Sign.Ending(fate: fate, seconds: (ContinuousClock.now - start).inSeconds)
    }

    private func id(_ index: Int) -> InstallID { InstallID("sign-\(index + 1)") }

    /// The archive's name throughout, for several may hold one app.
    private func title(_ index: Int) -> String {
        let item = plan.items[index]
        let name = item.input.pathParts.last ?? item.input
        return item.identity.map { "\(name) for \($0)" } ?? name
    }
}

extension Invocation {
    /// With what to sign for each identity, by its name; under an empty one without a list.
    ///
    /// All of them are opened now; what is wrong with several is told at once.
    fileprivate func signingOptions(of list: IdentityList?) async throws -> [String: SigningOptions] {
        guard let list else { return ["": try await signingOptions()] }
        var options: [String: SigningOptions] = [:]
        var failures: [(name: String, error: any Error)] = []
        for (index, entry) in list.entries.enumerated() {
            do {
                options[entry.name] = try await with(entry, "\(list.file): [\(index)]").signingOptions()
            } catch {
                guard ExitCode(error) != .cancelled else { throw error }
                failures.append((entry.name, error))
            }
        }
        if failures.count == 1 { throw failures[0].error }
        guard failures.isEmpty else {
            let lines = failures.map { name, error in
                let report = ErrorReport(error)
                return "\n  • \(name): \(report.message)" + (report.remedy.map { "\n    " + $0 } ?? "")
            }
            throw InputError(
                message: "\(list.file): \(failures.count) identities cannot be used:" + lines.joined(),
                remedy: nil
            )
        }
        return options
    }
}
