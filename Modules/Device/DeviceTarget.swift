import FerryAppBundle
import FerryBytes
public import FerryInstalling
import FerryPropertyList

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A device, by cable or in the network.
///
/// An app is checked against the device first, then sent to its `PublicStaging` in pieces, then installed from there. What
/// was sent is removed again, however that ended, as long as the device can be reached.
public struct DeviceTarget: InstallTarget {
    /// The folder on the device that archives are sent to.
    static let stagingFolder = "PublicStaging"
    /// How long removing what was sent may take, where the first connection is lost.
    static let cleaningLimit = Duration.seconds(10)
    /// How much longer nothing may come, for each so many bytes of an archive: a device unpacks without a word.
    static let bytesPerExtraSecond = 4_000_000

    /// Its UDID; `nil` for the one that is connected.
    public let identifier: String?
    /// How long nothing may come from the device before an install is given up; large archives get more.
    public let stallLimit: Duration
    /// How long is waited for whoever has to unlock the device, or to tap Trust on it.
    public let trustLimit: Duration
    private let clock: any Clock<Duration>

    /// `device:` and the UDID; `device` for the one that is connected.
    public var name: String { identifier.map { "device:" + $0 } ?? "device" }

    /// Installs on a device.
    public init(
        identifier: String? = nil,
        stallLimit: Duration = .seconds(180),
        trustLimit: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.identifier = identifier
        self.stallLimit = stallLimit
        self.trustLimit = trustLimit
        self.clock = clock
    }

    /// Checks, sends and installs the archive at `path`.
    public func install(
        _ path: String,
        tell: @escaping @Sendable (InstallEvent) -> Void
    ) async throws(InstallError) -> InstalledApp {
        do {
            return try await send(path, tell)
        } catch {
            throw DeviceError(error, on: name, doing: "installing").asInstallError
        }
    }

    private func send(_ path: String, _ tell: @escaping @Sendable (InstallEvent) -> Void) async throws -> InstalledApp {
        let device = try await Device.find(identifier)
        // Only what is small is read of it.
        let failure = DeviceError(.archive, "\(path): no thread can be had to read it.")
        let archive = try await onOwnThread(orElse: failure) { try AppArchive(path: path) }
        let limit = stallLimit + .seconds(archive.source.count / Self.bytesPerExtraSecond)
        let staged = Staged()
        // From then on it is left over, if it could not be removed, and the next install there removes it.
        defer { StagedFiles.ofThisProcess.release(staged.name) }
        do {
            return try await DeviceLine.run(
                on: device.title,
                doing: "starting to install",
                limit: limit,
                clock: clock
            ) { line in
                try device.withHandle(line) { handle in
                    let work = Work(
                        device: device,
                        archive: archive,
                        line: line,
                        staged: staged,
                        trustLimit: trustLimit,
                        tell: tell
                    )
                    return try work.run(handle)
                }
            }
        } catch {
            await clean(staged, on: device)
            throw error
        }
    }

    /// Removes what is left on the device, by a new connection.
    private func clean(_ staged: Staged, on device: Device) async {
        guard let path = staged.path.withLock({ $0 }) else { return }
        let clock = clock
        // Of its own, for the task may be cancelled; it is awaited here.
        let cleaning = Task {
            try await DeviceLine.run(
                on: device.title,
                doing: "removing what was sent",
                limit: Self.cleaningLimit,
                clock: clock
            ) { line in
                try device.withHandle(line) { handle in
                    let conduit = try device.conduit(handle, try Lockdown(handle, line), line)
                    try conduit.remove(path)
                }
            }
        }
        // Where the device is gone there is nothing left to try.
        _ = await cleaning.result
    }
}

/// What lies on a device and has to go from there.
private final class Staged: Sendable {
    let name = StagedFiles.ofThisProcess.take()
    /// Where it lies; `nil` while, and once, there is nothing.
    let path = Guarded<String?>(nil)
}

/// One install, step by step, on its own thread.
private struct Work {
    let device: Device
    let archive: AppArchive
    let line: DeviceLine
    let staged: Staged
    let trustLimit: Duration
    let tell: @Sendable (InstallEvent) -> Void

    func run(_ handle: OpaquePointer) throws -> InstalledApp {
        try line.begin("starting a session")
        try device.nameLine(line, handle)
        let lockdown = try Lockdown.patiently(handle, line, limit: trustLimit) { wish in
            switch wish {
            case .trust: tell(.step("Tap Trust on \(line.name)"))
            case .unlocking: tell(.step("Unlock \(line.name)"))
            }
        }
        let facts = device.facts(lockdown, isPaired: true)
        // This order: devices refuse the other one at times.
        try line.begin("starting installation_proxy")
        let proxy = try device.proxy(handle, lockdown, line)
        try line.begin("looking for \(archive.facts.identifier)")
        let before = try installed(proxy)
        try refuse(DeviceChecks.problems(of: archive.facts, on: facts, installed: before))
        try line.begin("starting afc")
        let conduit = try device.conduit(handle, lockdown, line)
        try line.begin("making \(DeviceTarget.stagingFolder)")
        try conduit.makeFolder(DeviceTarget.stagingFolder)
        try line.begin("removing what earlier installs left")
        let sweep = StagingSweep(
            conduit: conduit,
            folder: DeviceTarget.stagingFolder,
            ours: .ofThisProcess,
            now: lockdown.time()
        )
        try sweep.run()
        try install(proxy, conduit)
        return InstalledApp(identifier: archive.facts.identifier, location: facts.title, isUpdate: before != nil)
    }

    /// The app that is there; `nil` for none, and where the device does not tell: then it decides for itself.
    private func installed(_ proxy: InstallationProxy) throws(DeviceError) -> DeviceApp? {
        do throws(DeviceError) {
            return try proxy.app(archive.facts.identifier)
        } catch {
            guard error.code == .declined else { throw error }
            return nil
        }
    }

    /// Refuses with every reason at once.
    private func refuse(_ problems: [DeviceProblem]) throws(DeviceError) {
        guard let first = problems.first else { return }
        let remedies = problems.compactMap(\.remedy).reduce(into: [String]()) { list, remedy in
            if !list.contains(remedy) { list.append(remedy) }
        }
        throw DeviceError(
            .refused,
            problems.count == 1 ? first.message : problems.map(\.message).joined(separator: "\n"),
            remedy: remedies.joined(separator: "\n")
        )
    }

    private func install(_ proxy: InstallationProxy, _ conduit: FileConduit) throws {
        let path = DeviceTarget.stagingFolder + "/" + staged.name.text
        try line.begin("sending the archive")
        staged.path.withLock { $0 = path }
        // What cannot be removed here is tried once more by a new connection.
        defer {
            if (try? conduit.remove(path)) != nil { staged.path.withLock { $0 = nil } }
        }
        tell(.step("Uploading"))
        let total = archive.source.count
        var percent = -1
        try conduit.write(path, count: total, read: { try archive.source.read(at: $0, into: $1) }) { done in
            let now = total > 0 ? Int(Double(done) / Double(total) * 100) : 100
            guard now > percent else { return }
            percent = now
            tell(.progress(completed: done, total: total))
        }
        guard archive.source.isUnchanged else {
            throw DeviceError(.archive, "\(archive.source.path) was changed while it was sent.", remedy: "Try again.")
        }
        try line.begin("waiting for the device to install")
        try proxy.install(path, archive.clientOptions) { status, percent in
            tell(.step(status))
            if let percent { tell(.percent(percent)) }
        }
    }
}
