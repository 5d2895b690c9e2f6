#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Removes a file of ours on its way; one that is gone already is no loss.
package func removeFile(_ path: String) {
    unlink(path)
}
