import FerryBytes
import FerrySigning

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where the command keeps what outlives it (XDG Base Directory Specification).
struct Folders: Sendable {
    /// The record of installs, partial downloads, and archives on their way: `$XDG_STATE_HOME/ferry`.
    let state: String

    /// What can be had again: `$XDG_CACHE_HOME/ferry`.
    let cache: String

    /// What people settle once: `$XDG_CONFIG_HOME/ferry`.
    let configuration: String

    /// The folders that the environment names.
    init(environment: [String: String]) {
        // The specification: a relative path is to be taken for none.
        func folder(_ variable: String, else standard: String) -> String {
            let given = environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil }
            return (given ?? (environment["HOME"] ?? "/tmp") + standard) + "/ferry"
        }
        state = folder("XDG_STATE_HOME", else: "/.local/state")
        cache = folder("XDG_CACHE_HOME", else: "/.cache")
        configuration = folder("XDG_CONFIG_HOME", else: "/.config")
    }

    /// What is known of archives that were signed before.
    var archiveCache: ArchiveCache { ArchiveCache(folder: cache + "/archives") }

    /// Archives on their way; the folder is made where it is missing.
    func work() throws(FileFailure) -> String {
        try Self.make(state + "/work")
    }

    /// Partial downloads; the folder is made where it is missing.
    func downloads() throws(FileFailure) -> String {
        try Self.make(state + "/downloads")
    }

    /// Makes a folder, and those above it, for this user alone.
    @discardableResult
    static func make(_ path: String) throws(FileFailure) -> String {
        try makeFolders(path)
        return path
    }
}
