import FerryAppBundle
import FerryBytes
public import FerryCodeSignature
import FerryZip

/// Signs archives: plan → seal → repack, each in one go, with a check of what came out.
///
/// All signatures of one signer share its threads, so any number of them may run at once.
public actor Signer {
    private let workers: Workers
    private let cache: ArchiveCache?
    private let now: @Sendable () -> Int64

    /// Starts the threads.
    ///
    /// - Parameter threadCount: how many; one a core is best.
    /// - Parameter cache: where what is learnt of archives is kept, so that signing one again takes little; `nil` for
    ///   nowhere.
    /// - Parameter now: the date for validity and signing times, in seconds since 1970.
    public init(threadCount: Int, cache: ArchiveCache? = nil, now: @escaping @Sendable () -> Int64) {
        self.cache = cache
        workers = Workers(count: threadCount)
        self.now = now
    }

    /// Begins to sign; it goes on while the result is kept, and ends early when a task that awaits it is cancelled.
    public nonisolated func sign(_ request: SigningRequest) -> Signing {
        let (events, sink) = AsyncStream.makeStream(
            of: SigningEvent.self,
            // At most 101 percents, a warning a file, and seven others: bounded by the archive.
            bufferingPolicy: .unbounded
        )
        let run = SigningRun(request: request, cache: cache, workers: workers, now: now, tell: { sink.yield($0) })
        let task = Task<Result<SignedArchive, SignError>, Never>(executorPreference: workers) {
            let result = await run.result()
            sink.finish()
            return result
        }
        return Signing(events: events, task: task)
    }

    /// Makes ready to read an archive while it arrives, to be given to the ``SigningRequest`` when it is whole.
    ///
    /// - Parameter options: those that it will be signed with, as far as they are known.
    public nonisolated func readAhead(_ options: SigningOptions) -> ArchiveAhead {
        ArchiveAhead(options: options, workers: workers)
    }

    /// Says what signing would change, or why it would refuse; nothing is written.
    public nonisolated func preview(_ request: SigningRequest) async throws(SignError) -> SigningPreview {
        do {
            let plan = try await withTaskExecutorPreference(workers) {
                try await SigningPlan.make(request, now: now(), workers: workers)
            }
            return try await Previewer(plan: plan, workers: workers).run()
        } catch {
            throw SignError(wrapping: error, .input, request.input, name: request.inputName)
        }
    }

    /// Says what is inside an archive, without a check.
    public nonisolated func inspect(_ path: String) async throws(SignError) -> ArchiveInspection {
        do {
            return try await Inspector(path: path, workers: workers).run()
        } catch {
            throw SignError(wrapping: error, .input, path)
        }
    }

    /// Checks a signed archive as it is checked before it is handed over: signatures, seals, profiles, identifiers.
    ///
    /// ``Verifier`` asks more: what a device wants of the code and the Info.plists, whoever signed.
    public nonisolated func verify(_ path: String) async throws(SignError) -> [Fault] {
        do {
            let source = try FileSource(path: path)
            return try await ArchiveVerifier(source: source, name: path, now: now(), workers: workers).run().faults
        } catch {
            throw SignError(wrapping: error, .input, path)
        }
    }
}

/// A signature in the making.
public struct Signing: Sendable {
    /// What happens, in order; for one reader. Ends with the signature.
    public let events: AsyncStream<SigningEvent>
    private let task: Task<Result<SignedArchive, SignError>, Never>

    init(events: AsyncStream<SigningEvent>, task: Task<Result<SignedArchive, SignError>, Never>) {
        self.events = events
        self.task = task
    }

    /// The signed archive, once it stands and has passed its check.
    public var archive: SignedArchive {
        get async throws(SignError) {
            let result = await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
            return try result.get()
        }
    }

    /// Ends it; nothing is left behind.
    public func cancel() {
        task.cancel()
    }
}

/// One archive's way from plan to output.
struct SigningRun: Sendable {
    var request: SigningRequest
    let cache: ArchiveCache?
    let workers: Workers
    let now: @Sendable () -> Int64
    let tell: @Sendable (SigningEvent) -> Void

    func result() async -> Result<SignedArchive, SignError> {
        do {
            return .success(try await runTwice())
        } catch {
            return .failure(SignError(wrapping: error, .input, request.input, name: request.inputName))
        }
    }

    /// Runs, and once more without what was known of the archive, where that was wrong.
    private func runTwice() async throws -> SignedArchive {
        let plan = try await plan(with: cache)
        do {
            return try await run(plan)
        } catch {
            let isSuspect = error is SurveyMismatch || (error as? SignError)?.code == .verification
            guard isSuspect, !plan.survey.files.isEmpty else { throw error }
            if let look = plan.look { cache?.forget(look) }
            var alone = self
            alone.request.ahead = nil
            return try await alone.run(try await alone.plan(with: nil))
        }
    }

    private func plan(with cache: ArchiveCache?) async throws -> SigningPlan {
        tell(.phase(.planning))
        return try await SigningPlan.make(request, now: now(), cache: cache, workers: workers)
    }

    private func run(_ plan: SigningPlan) async throws -> SignedArchive {
        let time = now()
        let root = plan.contents.tree.root
        let total = Sealer.files(of: plan).reduce(0) { $0 + $1.size }
        tell(
            .planned(
                title: root.info.displayName ?? root.name,
                identifier: plan.bundles.last?.identifier ?? "",
                version: root.info.version,
                bytes: total
            )
        )
        // Made now, so that a folder that cannot be written to is found before the work, not after.
        let output = try onOutput { () throws(FileFailure) in try NewFile(path: request.output) }
        let sealer = Sealer(plan: plan, workers: workers, time: time) { completed, total in
            tell(.progress(completed: completed, total: total))
        }
        tell(.phase(.sealing))
        // What stays as it is can go where it will be while the rest is being made.
        async let copying = copyAhead(sealer.untouched(), of: plan, to: output)
        let sealed = try await sealer.run()
        let copied = try await copying
        let warnings = plan.warnings + sealed.warnings
        for warning in warnings {
            tell(.warning(warning))
        }
        tell(.phase(.repacking))
        try write(sealed, of: plan, to: output, after: copied)
        // What is copied raw was hashed some time before.
        guard plan.contents.source.isUnchanged else {
            throw SignError(
                .input,
                request.shownInput,
                [
                    SignError.Reason(
                        "\(request.shownInput): it was changed while it was being signed.",
                        remedy: "Try again."
                    )
                ]
            )
        }
        tell(.phase(.verifying))
        let size = try await check(output, sealed)
        try Task.checkCancellation()
        tell(.phase(.placing))
        try onOutput { () throws(FileFailure) in try output.commit() }
        if let look = plan.look { cache?.keep(sealed.learnt, of: plan.contents.source, look) }
        return SignedArchive(
            path: request.output,
            byteCount: size,
            bundles: plan.bundles.map { bundle in
                SignedArchive.Bundle(
                    path: bundle.bundle.path,
                    oldIdentifier: bundle.bundle.identifier,
                    identifier: bundle.identifier,
                    profile: bundle.profile?.name,
                    droppedEntitlements: sealed.droppedEntitlements[bundle.bundle.path] ?? [:]
                )
            },
            signedFileCount: sealed.signedFileCount,
            warnings: warnings
        )
    }

    /// Tells a failure of the output from one of the input, which may have one path.
    private func onOutput<Value>(_ body: () throws(FileFailure) -> Value) throws(SignError) -> Value {
        do {
            return try body()
        } catch {
            throw SignError(.output, request.shownInput, [SignError.Reason(error)])
        }
    }

    private func copyAhead(
        _ entries: [ZipEntry],
        of plan: SigningPlan,
        to output: NewFile
    ) async throws -> CopiedEntries {
        try copyEntries(entries, from: plan.contents.source, to: output.descriptor, path: request.output) { _ in
            try Task.checkCancellation()
        }
    }

    private func write(
        _ sealed: Sealer.Result,
        of plan: SigningPlan,
        to output: NewFile,
        after copied: CopiedEntries
    ) throws {
        try writeArchive(
            sealed.items,
            from: plan.contents.source,
            to: output.descriptor,
            path: request.output,
            comment: plan.contents.directory.comment,
            after: copied
        ) { _ in try Task.checkCancellation() }
    }

    /// Reads the output back; throws where anything in it is wrong.
    private func check(_ output: NewFile, _ sealed: Sealer.Result) async throws -> Int {
        let source = try FileSource(duplicating: output.descriptor, path: request.output)
        let verifier = ArchiveVerifier(
            source: source,
            name: request.output,
            now: now(),
            known: request.options.verification == .full ? [:] : sealed.copied,
            spliced: request.options.verification == .full ? [:] : sealed.spliced,
            workers: workers
        )
        let faults = try await verifier.run().faults.filter { fault in
            // Whoever keeps such identifiers knows.
            let isWanted = fault.code == .identifierNotUnderHost && request.options.foreignWish == .keep
            // Where nothing is signed, only that it can be read is promised.
            let isMeant = request.options.signs || fault.code.isOfArchive
            return !fault.isWarning && !isWanted && isMeant
        }
        guard faults.isEmpty else {
            throw SignError(
                .verification,
                request.output,
                faults.map { SignError.Reason("\($0.place): \($0.message) (\($0.code.rawValue))") }
            )
        }
        return source.count
    }
}
