import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The partial files that downloads left under names of their callers' choice, see ``DownloadRequest/partialName``.
public enum PartialFiles {
    /// Whether a partial file may be called so.
    static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 100
            && name.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            }
    }

    /// The names of all that lie in a state folder; of those that nobody chose, too.
    public static func names(in stateFolder: String) -> Set<String> {
        var names: Set<String> = []
        for file in (try? folderNames(stateFolder)) ?? [] {
            guard let end = file.utf8.firstIndex(of: UInt8(ascii: ".")) else { continue }
            if file[end...].hasPrefix(".part") { names.insert(String(file[..<end])) }
        }
        return names
    }

    /// Removes a partial file and all that belongs to it, unless a download is writing it.
    public static func remove(_ name: String, in stateFolder: String) {
        let path = stateFolder + "/" + name + ".part"
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        defer { if descriptor >= 0 { close(descriptor) } }
        if descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0 { return }
        for file in (try? folderNames(stateFolder)) ?? [] where file.hasPrefix(name + ".part") {
            unlink(stateFolder + "/" + file)
        }
    }
}
