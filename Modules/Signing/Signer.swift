import FerryAppBundle
import FerryBytes
public import FerryCodeSignature
import FerryZip

/// Signs archives: plan → seal → repack, each in one go, with a check of what came out.
///
/// All signatures of one signer share its threads, so any number of them may run at once.
public actor Signer {
    private let workers: Workers
    private let now: @Sendable () -> Int64

    /// Starts the threads.
    ///
    /// - Parameter threadCount: how many; one a core is best.
    /// - Parameter now: the date for validity and signing times, in seconds since 1970.
    public init(threadCount: Int, now: @escaping @Sendable () -> Int64) {
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
        let run = SigningRun(request: request, workers: workers, now: now, tell: { sink.yield($0) })
        let task = Task<Result<SignedArchive, SignError>, Never>(executorPreference: workers) {
            let result = await run.result()
            sink.finish()
            return result
        }
        return Signing(events: events, task: task)
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
    let request: SigningRequest
    let workers: Workers
    let now: @Sendable () -> Int64
    let tell: @Sendable (SigningEvent) -> Void

    func result() async -> Result<SignedArchive, SignError> {
        do {
            return .success(try await run())
        } catch {
            return .failure(SignError(wrapping: error, .input, request.input, name: request.inputName))
        }
    }

    private func run() async throws -> SignedArchive {
        let time = now()
        tell(.phase(.planning))
        let plan = try await SigningPlan.make(request, now: time, workers: workers)
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
        let sealed = try await sealer.run()
        let warnings = plan.warnings + sealed.warnings
        for warning in warnings {
            tell(.warning(warning))
        }
        tell(.phase(.repacking))
        try write(sealed, of: plan, to: output)
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

    private func write(_ sealed: Sealer.Result, of plan: SigningPlan, to output: NewFile) throws {
        try writeArchive(
            sealed.items,
            from: plan.contents.source,
            to: output.descriptor,
            path: request.output,
            comment: plan.contents.directory.comment
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
