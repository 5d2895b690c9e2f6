import FerryActivity
import FerryDownload
import FerryInstalling
import FerryRecord
import FerrySigning

// The stages of one install, each with what it tells.
extension InstallPipeline {
    func download(_ id: InstallID, _ request: InstallRequest, to path: String) async throws -> DownloadedFile {
        try await enterStage(.downloading, id)
        var wanted = DownloadRequest(url: request.source, destination: path)
        wanted.mirrors = request.mirrors
        wanted.headers = request.headers
        wanted.sha256 = request.wantedSHA256
        wanted.expectedLength = request.wantedLength
        wanted.partialName = record == nil ? nil : files.partialName(id)
        wanted.startsHeld = jobs[id]?.isHeld ?? false
        // With a record, that one knows what is wanted, and not what an earlier process left in the partial file.
        jobs[id]?.hasOrders = wanted.startsHeld || record != nil
        let ahead = request.signing.map { signer.readAhead($0) }
        jobs[id]?.ahead = ahead
        let download = await downloader.start(wanted)
        jobs[id]?.download = download.id
        defer { jobs[id]?.download = nil }
        if record != nil, !wanted.startsHeld { await downloader.release(download.id) }
        // What came between the two lines above reached nobody.
        if jobs[id]?.isHeld != wanted.startsHeld { await tellDownload(id) }
        let progress: (StageProgress) -> Void = { self.record?.note($0, of: id) }
        return try await center.follow(download, of: id, ahead: ahead, progress: progress) { isHeld in
            // Not an echo, which may come late, but the word of an earlier process.
            guard self.jobs[id]?.hasOrders == false else { return false }
            self.jobs[id]?.isHeld = isHeld
            return true
        }
    }

    func sign(_ id: InstallID, _ request: SigningRequest) async throws -> SignedArchive {
        try await enterStage(.signing, id)
        let progress: (StageProgress) -> Void = { self.record?.note($0, of: id) }
        var request = request
        request.ahead = jobs[id]?.ahead
        jobs[id]?.ahead = nil
        let signing = signer.sign(request)
        defer { jobs[id]?.stop = nil }
        stop(id) { signing.cancel() }
        return try await center.follow(signing, of: id, progress: progress) {
            await self.tellIcon(of: request.input, id)
            guard self.record != nil, let install = await self.center.activity[id] else { return }
            // The install does not depend on it.
            try? await self.keep(
                .named(title: install.title, bundleID: install.bundleID, version: install.version),
                of: id
            )
        }
    }

    /// - Parameter hasIcon: whether the icon was told when the signature's plan stood.
    func install(_ id: InstallID, _ archive: String, hasIcon: Bool) async throws -> InstalledApp {
        try await enterStage(.installing, id)
        let installation = await installer.install(archive, as: id.rawValue)
        defer { jobs[id]?.stop = nil }
        stop(id) { installation.cancel() }
        // The installation goes on meanwhile.
        if !hasIcon { await tellIcon(of: archive, id) }
        return try await center.follow(installation, of: id) { self.record?.note($0, of: id) }
    }

    /// Says how the stage that begins is stopped.
    private func stop(_ id: InstallID, _ stop: @escaping @Sendable () -> Void) {
        jobs[id]?.stop = stop
        // It may have been ended between two lines.
        if jobs[id]?.ending != nil { stop() }
    }

    private func enterStage(_ stage: Stage, _ id: InstallID) async throws {
        await center.send(.stage(id, stage))
        try await keep(.stage(stage), of: id)
    }

    private func tellIcon(of archive: String, _ id: InstallID) async {
        guard let icon = await InstallIcon.jpeg(of: archive) else { return }
        await center.send(.icon(id, icon))
    }
}
