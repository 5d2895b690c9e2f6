#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The names in a folder, in no order, without `.` and `..`; more than `limit` are `EFBIG`.
package func folderNames(_ path: String, limit: Int = .max) throws(FileFailure) -> [String] {
    guard let folder = opendir(path) else { throw FileFailure("open", path, errorNumber: errno) }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != ".", name != ".." { names.append(name) }
        guard names.count <= limit else { throw FileFailure("read", path, errorNumber: EFBIG) }
    }
    return names
}
