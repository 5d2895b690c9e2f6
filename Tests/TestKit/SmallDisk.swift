/// A file system of a test's own, where root may mount one: for full disks and read-only folders.
public final class SmallDisk: Sendable {
    /// What a test says when it skips.
    public static let absent = "only root may mount a file system, and not everywhere"
    /// Whether one can be had.
    public static let isPossible = (try? SmallDisk("size=64k")) != nil

    private let folder: TemporaryFolder

    /// Where it is mounted.
    public var path: String { folder.path }

    /// Mounts one with options of `tmpfs`, for instance `size=64k` or `ro`.
    public init(_ options: String) throws {
        folder = try TemporaryFolder()
        guard let mount = Tool("mount"), Tool("umount") != nil else { throw ToolFailure(Self.absent) }
        let made = try mount.run(["-t", "tmpfs", "-o", options, "none", folder.path])
        guard made.status == 0 else { throw ToolFailure(made.errors) }
    }

    /// Takes writing away.
    public func makeReadOnly() throws {
        let made = try Tool("mount")?.run(["-o", "remount,ro", folder.path])
        guard made?.status == 0 else { throw ToolFailure(made?.errors ?? Self.absent) }
    }

    deinit {
        _ = try? Tool("umount")?.run([folder.path])
    }
}

/// What a program that a test needs went wrong with.
public struct ToolFailure: Error, CustomStringConvertible {
    /// What it said.
    public let description: String

    /// Keeps what it said.
    public init(_ description: String) {
        self.description = description
    }
}
