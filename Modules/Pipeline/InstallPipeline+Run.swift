public import FerryActivity
import FerryBytes
import FerryDownload
import FerryInstalling
import FerryRecord
import FerrySigning

extension InstallPipeline {
    /// Takes an install to its end, and writes down and tells how that was.
    func run(
        _ id: InstallID,
        _ request: InstallRequest,
        after install: RecordedInstall?,
        _ failure: RecordError?
    ) async -> Result<InstallResult, any Error> {
        var stage = Stage.waiting
        let result: Result<InstallResult, any Error>
        do {
            if let failure { throw failure }
            result = .success(try await walk(id, request, after: install, &stage))
        } catch {
            result = .failure(request.explaining(error))
        }
        let outcome =
            switch result {
            case .success(let result): result.outcome
            case .failure(let error): Self.outcome(of: error, in: stage)
            }
        if failure == nil { await settle(id, outcome) }
        await center.send(.finished(id, outcome))
        return result
    }

    /// How an activity tells of an error.
    public static func outcome(of error: any Error, in stage: Stage) -> Outcome {
        let explained = error as? any ExplainedError
        if error is CancellationError || explained?.isCancellation == true { return .cancelled }
        return .failed(
            Failure(message: explained?.message ?? "\(error)", remedy: explained?.remedy, stage: stage)
        )
    }

    /// Writes the end down, then removes the files: after a kill in between the record says which are left.
    private func settle(_ id: InstallID, _ outcome: Outcome) async {
        guard let record else { return }
        do throws(RecordError) {
            guard outcome != .cancelled || jobs[id]?.ending == .cancelled else {
                // Interrupted. Where another process cancelled it just now, this ends it.
                try await record.letGo(id)
                if try await record.standings([id])[id]?.isFinished == true { files.remove(id) }
                return
            }
            try await record.write(.finished(outcome), of: id)
        } catch {
            await note(error, id)
            return
        }
        files.remove(id, partial: outcome.failure == nil)
    }

    /// Writes a fact down. An install goes on where the record cannot be written, but not where it is no longer ours.
    func keep(_ fact: RecordedFact, of id: InstallID) async throws {
        guard let record else { return }
        do throws(RecordError) {
            try await record.write(fact, of: id)
        } catch {
            switch error.code {
            case .finished, .running, .unknown: throw error
            case .duplicate, .damaged, .busy, .full, .file: await note(error, id)
            }
        }
    }

    private func walk(
        _ id: InstallID,
        _ request: InstallRequest,
        after before: RecordedInstall?,
        _ stage: inout Stage
    ) async throws -> InstallResult {
        let name = record == nil ? try WorkName(for: request.source, in: files.workFolder) : nil
        defer { name?.giveUp() }
        let path = name?.path ?? files.path(id)
        stage = .downloading
        var arrived = before?.download
        if before != nil, arrived == nil {
            // Its process may have been killed after the whole file was put in place, and before that was written down.
            arrived = await FileCheck.describe(path + ".ipa")
        }
        let file = try await archive(id, request, at: path + ".ipa", arrived)
        defer {
            if name != nil, !file.isOriginal { removeFile(file.path) }
        }
        for text in try await request.compare(file) { await center.send(.note(id, text)) }

        var archive = file.path
        var signed: SignedArchive?
        if request.signing != nil {
            stage = .signing
            archive = request.signedArchive ?? path + ".signed.ipa"
            signed = try await signature(id, request, of: file, at: archive, before?.signature)
        }
        defer {
            if name != nil, request.signing != nil, request.signedArchive == nil { removeFile(archive) }
        }

        stage = .installing
        let app = try await enter(installs, id) { try await self.install(id, archive, hasIcon: signed != nil) }
        return InstallResult(
            signed: signed,
            identifier: app.identifier,
            location: app.location,
            isUpdate: app.isUpdate,
            isOnlyDelivered: app.isOnlyDelivered
        )
    }

    /// The archive: that of an earlier process, if it is there still, else a new download.
    private func archive(
        _ id: InstallID,
        _ request: InstallRequest,
        at path: String,
        _ before: RecordedFile?
    ) async throws -> DownloadedFile {
        if let before, request.wantedSHA256 == nil || request.wantedSHA256 == before.sha256,
            try await enter(downloads, id, { await FileCheck.isThere(before) })
        {
            let file = DownloadedFile(
                path: before.path,
                length: before.byteCount,
                sha256: before.sha256,
                isOriginal: before.isOriginal
            )
            // A list may say another version by now; without one there is nothing to differ from.
            if (try? await request.compare(file)) != nil { return file }
        }
        let file = try await enter(downloads, id) { try await self.download(id, request, to: path) }
        let known = RecordedFile(
            path: file.path,
            byteCount: file.length,
            sha256: file.sha256,
            isOriginal: file.isOriginal
        )
        try await keep(.downloaded(known), of: id)
        return file
    }

    /// Signs to `output`, unless an earlier process did just that; then gives nothing.
    private func signature(
        _ id: InstallID,
        _ request: InstallRequest,
        of file: DownloadedFile,
        at output: String,
        _ before: RecordedSignature?
    ) async throws -> SignedArchive? {
        guard let options = request.signing else { return nil }
        if let before, before.file.path == output, before.inputSHA256 == file.sha256,
            before.fingerprint == request.signingFingerprint,
            try await enter(signings, id, { await FileCheck.isThere(before.file) })
        {
            return nil
        }
        var wanted = SigningRequest(input: file.path, output: output, options: options)
        wanted.inputSHA256 = file.sha256
        // A path of ours tells people nothing, and a title that somebody gave tells more than any path.
        wanted.inputName = file.isOriginal ? request.title : request.title ?? Self.title(request.source)
        let signing = wanted
        let signed = try await enter(signings, id) { try await self.sign(id, signing) }
        // All of it is read once more: the next signature need not wait for that.
        if record != nil, let fingerprint = request.signingFingerprint, let known = await FileCheck.describe(output) {
            let signature = RecordedSignature(file: known, inputSHA256: file.sha256, fingerprint: fingerprint)
            try await keep(.signed(signature), of: id)
        }
        return signed
    }

    /// Runs a stage once there is room and nobody holds the install.
    private func enter<Value: Sendable>(
        _ turnstile: Turnstile,
        _ id: InstallID,
        _ body: () async throws -> Value
    ) async throws -> Value {
        while true {
            try await passGate(id)
            // One that was held while it stood in line makes way for the next.
            let value = try await turnstile.pass(
                waits: { await center.send(.step(id, Self.waitsForItsTurn)) },
                { self.jobs[id]?.isHeld == true ? nil : try await body() }
            )
            if let value { return value }
        }
    }

    private func passGate(_ id: InstallID) async throws {
        while jobs[id]?.isHeld == true, !Task.isCancelled {
            await withCheckedContinuation { jobs[id]?.gate = $0 }
        }
        try Task.checkCancellation()
    }
}
