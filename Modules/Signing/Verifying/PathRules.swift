import FerryAppBundle
import FerryBytes
import FerryCodeSignature

/// What is odd about an app's paths, though a device takes them.
struct PathRules {
    let files: [AppFiles.File]
    let tree: BundleTree

    /// The most that is told of one kind; more say nothing more.
    private static let most = 20

    /// Finds names that only capital letters tell apart, and files beside the app.
    func faults() -> [Fault] {
        let strays = tree.strays.filter { !BundlePath.isJunk($0) }.prefix(Self.most).map { path in
            Fault(
                .strayFile,
                at: path,
                "It lies beside the app, where installing may stumble over it.",
                remedy: "Leave it out.",
                isWarning: true
            )
        }
        return strays + twins().prefix(Self.most)
    }

    private func twins() -> [Fault] {
        var known: [String: String] = [:]
        known.reserveCapacity(files.count)
        var faults: [Fault] = []
        for file in files {
            guard let other = known.updateValue(file.path, forKey: file.path.lowercased()) else { continue }
            faults.append(
                Fault(
                    .caseTwins,
                    at: file.path,
                    "Only capital letters tell it from “\(other.printable)”.",
                    remedy: "Whoever unpacks it on a Mac or on Windows loses one of the two: rename one.",
                    isWarning: true
                )
            )
        }
        return faults
    }
}
