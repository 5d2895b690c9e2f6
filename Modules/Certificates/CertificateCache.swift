import FerryBytes
import FerryCodeSignature
import FerryWeb

/// Answers that held an issuer, in a folder: one file an address, named after its SHA-256.
///
/// Whoever can write there can add certificates, but none that counts: each is verified anew by the chain that it is for.
public struct CertificateCache: Sendable {
    private let folder: String

    /// Keeps files in `folder`, which is made when the first one is kept.
    public init(folder: String) {
        self.folder = folder
    }

    /// What `url` answered; `nil` where nothing is kept, or it cannot be read.
    func answer(of url: String) -> [UInt8]? {
        try? WholeFile.read(path(of: url), limit: FetchRequest.standardLongestAnswer)
    }

    /// Keeps what `url` answered. A cache that cannot be written is none: the next one asks again.
    func keep(_ bytes: [UInt8], of url: String) {
        guard (try? makeFolders(folder)) != nil else { return }
        try? WholeFile.write(bytes, to: path(of: url))
    }

    private func path(of url: String) -> String {
        folder + "/" + HashAlgorithm.sha256.digest(Array(url.utf8)).hex + ".cer"
    }
}
