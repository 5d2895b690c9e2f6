public import Foundation
import Synchronization

/// A folder of one test's own, removed with its contents when the last reference goes, or the process ends.
public final class TemporaryFolder: Sendable {
    /// Where it is.
    public let url: URL

    /// Makes a new, empty folder.
    public init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("ferry-test-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        Self.remaining.withLock { _ = $0.insert(url) }
        _ = Self.sweepAtExit
    }

    /// Folders that are still there: those that static values hold never lose their last reference.
    private static let remaining = Mutex<Set<URL>>([])
    private static let sweepAtExit: Void = {
        atexit {
            for url in TemporaryFolder.remaining.withLock({ $0 }) { try? FileManager.default.removeItem(at: url) }
        }
    }()

    deinit {
        Self.remaining.withLock { _ = $0.remove(url) }
        try? FileManager.default.removeItem(at: url)
    }

    /// Its path.
    public var path: String { url.path }

    /// The path of a file or folder in it.
    public func path(_ name: String) -> String {
        url.appendingPathComponent(name).path
    }

    /// Writes a file, and the folders above it.
    @discardableResult
    public func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> String {
        let file = url.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
        return file.path
    }

    /// A file's bytes.
    public func read(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: url.appendingPathComponent(name)))
    }

    /// The names of all files and folders below it, sorted, for "nothing was left behind".
    public func contents() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
    }
}
