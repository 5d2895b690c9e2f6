import FerryBytes

/// The archives that lie on devices because this process is sending or installing them.
///
/// One for the process, as its name on the devices is one.
final class StagedFiles: Sendable {
    static let ofThisProcess = StagedFiles()

    private let names = Guarded<Set<StagedName>>([])

    /// A new name, which is in use until ``release(_:)``.
    func take() -> StagedName {
        let name = StagedName()
        names.withLock { _ = $0.insert(name) }
        return name
    }

    /// Says that nobody needs the file of that name any more.
    func release(_ name: StagedName) {
        names.withLock { _ = $0.remove(name) }
    }

    /// Whether the file of that name is known to be nobody's: its process is gone, or is this one and needs it no more.
    func isLeft(_ name: StagedName) -> Bool {
        name.sender == .this ? names.withLock { !$0.contains(name) } : name.sender.isGone
    }
}

/// Removes from a device what installs left there whose process was killed, or whose cable was pulled.
struct StagingSweep {
    /// After how long on the device a file is left, whoever sent it: no install takes so long.
    static let longestInstall = Duration.seconds(24 * 60 * 60)
    /// How many files are looked at; the next install goes on.
    static let maximumCount = 1000

    let conduit: FileConduit
    let folder: String
    /// Those of this process.
    let ours: StagedFiles
    /// The device's own time, in seconds since 1970; `nil` where it does not say, and no file is left by its age.
    let now: Int64?

    /// Removes all that is left; what the device does not let go of stays.
    func run() throws(DeviceError) {
        let names = try conduit.names(in: folder) ?? []
        for name in names.filter({ $0.hasPrefix(StagedName.prefix) && $0.hasSuffix(StagedName.suffix) })
            .prefix(Self.maximumCount)
        {
            let path = folder + "/" + name
            guard try isLeft(name, path) else { continue }
            do throws(DeviceError) {
                try conduit.remove(path)
            } catch {
                guard error.code == .file else { throw error }
            }
        }
    }

    private func isLeft(_ name: String, _ path: String) throws(DeviceError) -> Bool {
        if let staged = StagedName(name) {
            if ours.isLeft(staged) { return true }
            if staged.sender == .this { return false }
        }
        guard let now, let changed = try conduit.modificationTime(of: path) else { return false }
        return now - changed > Self.longestInstall.components.seconds
    }
}
