package import FerryActivity
import FerryBytes
import FerryPipeline
import FerryRecord
import FerryWebReporter

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the server knows of its installs beside their state: what was asked for, and where their files are.
package final class InstallBook: Sendable {
    struct Entry: Sendable {
        var request: InstallRequest
        /// The address, or the name of the archive, without secrets.
        var source: String
    }

    /// How many are remembered; those that ended first are forgotten first.
    static let limit = 2_000

    private struct State: Sendable {
        var entries: [InstallID: Entry] = [:]
        var order: [InstallID] = []
        var link: (@Sendable (InstallID) -> InstallLink?)?
        var uploads: String?
        var archives: ArchiveFolder?
    }

    private let state = Guarded(State())

    /// A book without installs.
    package init() {}

    /// Where links are asked for, once there are any.
    package func setLinks(_ link: @escaping @Sendable (InstallID) -> InstallLink?) {
        state.withLock { $0.link = link }
    }

    /// Where archives lie that were sent, and those that were signed.
    func setFolders(uploads: String, archives: ArchiveFolder) {
        state.withLock { state in
            state.uploads = uploads
            state.archives = archives
        }
    }

    /// Where an install came from, as people may see it: an archive that was sent is shown by its title, for where it lies
    /// here is nobody's business.
    func source(of install: RecordedInstall) -> String {
        let text = install.request.source.text
        let folder = state.withLock { $0.uploads }
        return folder.map { text.hasPrefix($0 + "/") } == true ? install.title : text
    }

    func add(_ id: InstallID, _ entry: Entry) {
        state.withLock { state in
            if state.entries.updateValue(entry, forKey: id) == nil { state.order.append(id) }
            if state.order.count > Self.limit { state.entries[state.order.removeFirst()] = nil }
        }
    }

    subscript(_ id: InstallID) -> Entry? { state.withLock { $0.entries[id] } }

    /// The installs that were asked for with that file.
    func installs(of path: String) -> [InstallID] {
        state.withLock { state in state.entries.filter { $0.value.request.source == path }.map(\.key) }
    }

    /// The keys of an install's object that are not of its state.
    package func add(of install: Install, to object: inout JSONObject) {
        let (entry, links) = state.withLock { ($0.entries[install.id], $0.link) }
        object.add("source", entry?.source)
        object.add("canRetry", entry != nil && install.isFinished && install.outcome?.isInstalled != true)
        object.add("hasArchive", entry?.request.signedArchive != nil && install.outcome?.isInstalled == true)
        object.add("running", !install.isFinished)
        if let link = links?(install.id) {
            var part = JSONObject()
            part.add("url", link.url)
            part.add("expiresAt", link.expiresAt.isoText)
            object.add("link", part)
        }
    }

    /// An install of this process as an object.
    func object(_ install: Install) -> JSONObject {
        var object = install.webObject
        add(of: install, to: &object)
        return object
    }

    /// An install of the record that is not of this process.
    func object(_ recorded: RecordedInstall) -> JSONObject {
        var object = Install(
            id: recorded.id,
            title: recorded.title,
            bundleID: recorded.bundleID,
            version: recorded.version,
            stage: recorded.stage,
            progress: recorded.progress,
            isHeld: recorded.isHeld,
            outcome: recorded.outcome,
            addedAt: recorded.addedAt,
            finishedAt: recorded.finishedAt
        ).webObject
        object.add("source", source(of: recorded))
        object.add("canRetry", recorded.canRetry)
        let archives = state.withLock { $0.archives }
        object.add("hasArchive", recorded.outcome?.isInstalled == true && archives?.has(recorded.id) == true)
        object.add("running", recorded.process != nil)
        return object
    }
}

extension RecordedInstall {
    /// Whether this process may go on with it.
    var canRetry: Bool { process == nil && !isCancelled && (outcome == nil || outcome?.failure != nil) }
}
