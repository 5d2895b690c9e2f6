public import FerryActivity
public import FerryDownload
public import FerryInstalling
public import FerrySigning

extension ActivityCenter {
    /// Tells what a download does, and gives its file in the end.
    ///
    /// - Parameter ahead: what reads the archive while it arrives.
    /// - Parameter progress: called with how far it is, beside what is told.
    /// - Parameter heldChanged: called when the download was held or released, which also an earlier process may have done;
    ///   gives whether that is to be told.
    public nonisolated(nonsending) func follow(
        _ download: Download,
        of id: InstallID,
        ahead: ArchiveAhead? = nil,
        progress: (StageProgress) -> Void = { _ in },
        heldChanged: (_ isHeld: Bool) async -> Bool = { _ in true }
    ) async throws -> DownloadedFile {
        var partial: String?
        for await event in download.events {
            switch event {
            case .progress(let completed, let total):
                progress(.bytes(completed, of: total))
                await send(.progress(id, .bytes(completed, of: total)))
            case .started(let total, let resumed):
                await send(.progress(id, .bytes(resumed, of: total)))
                if resumed > 0 {
                    await send(.note(id, "Goes on after \(resumed) bytes that were there."))
                }
            case .held(let reason):
                if await heldChanged(true) { await send(.held(id)) }
                if let reason { await send(.note(id, "It goes on when there is room. \(reason)")) }
            case .released:
                if await heldChanged(false) { await send(.released(id)) }
            case .retrying(_, let delay, let reason):
                await send(.note(id, "\(reason) Trying again in \(max(1, delay.components.seconds)) s."))
            case .movedOn(let mirror, let reason): await send(.note(id, "\(reason) Asks \(mirror) instead."))
            case .restarted(let reason):
                ahead?.restart()
                await send(.note(id, "Begins again: \(reason)"))
            case .partial(let path): partial = path
            case .front(let bytes): if let partial { ahead?.advance(path: partial, front: bytes) }
            case .finished, .failed: break
            }
        }
        return try await download.file
    }

    /// Tells what a signature does, and gives the signed archive in the end.
    ///
    /// - Parameter title: what people call it; `nil` for the app's name, once that is known.
    /// - Parameter progress: called with how far it is, beside what is told.
    /// - Parameter planned: called when the plan stands and the app's name was told; what follows is told after it. The
    ///   signature does not wait for it.
    public nonisolated(nonsending) func follow(
        _ signing: Signing,
        of id: InstallID,
        titled title: String? = nil,
        progress: (StageProgress) -> Void = { _ in },
        planned: () async -> Void = {}
    ) async throws -> SignedArchive {
        for await event in signing.events {
            switch event {
            case .planned(let name, let identifier, let version, _):
                await send(.named(id, title: title ?? name, bundleID: identifier, version: version))
                await planned()
            case .progress(let completed, let total):
                progress(.bytes(Int64(completed), of: Int64(total)))
                await send(.progress(id, .bytes(Int64(completed), of: Int64(total))))
            case .warning(let text): await send(.note(id, text))
            case .phase: break
            }
        }
        return try await signing.archive
    }

    /// Tells what an install on a target does, and gives the installed app in the end.
    ///
    /// - Parameter progress: called with how far it is, beside what is told.
    public nonisolated(nonsending) func follow(
        _ installation: Installation,
        of id: InstallID,
        progress: (StageProgress) -> Void = { _ in }
    ) async throws -> InstalledApp {
        for await event in installation.events {
            switch event {
            case .progress(let completed, let total):
                progress(.bytes(Int64(completed), of: Int64(total)))
                await send(.progress(id, .bytes(Int64(completed), of: Int64(total))))
            case .step(let step): await send(.step(id, step))
            }
        }
        return try await installation.app
    }
}
