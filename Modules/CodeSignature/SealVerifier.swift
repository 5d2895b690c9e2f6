import FerryBytes

/// Compares a seal with the files of its bundle.
public enum SealVerifier {
    /// What is wrong.
    ///
    /// - Parameter contents: every file and link below the bundle's folder, by path from there, without the main
    ///   executable.
    /// - Parameter bundle: the bundle's path in the archive, for the faults.
    public static func verify(
        _ seal: ResourceSeal,
        contents: [(path: String, content: ResourceSeal.Content)],
        bundle: String
    ) -> [Fault] {
        var faults: [Fault] = []
        let present = contents.filter { !ResourceSeal.isSignaturePart($0.path) }
        // By their bytes: two spellings of `ü` are two files.
        var names: Set<ExactText> = []
        for (path, content) in present {
            names.insert(ExactText(path))
            faults += check(path, content, seal, bundle)
        }
        let sealed = seal.files2.all + seal.files.all.filter { seal.files2[$0.path] == nil }
        for (path, entry) in sealed {
            guard !names.contains(ExactText(path)), !entry.isOptional, !entry.isNestedCode else { continue }
            faults.append(
                Fault(
                    .sealedFileMissing,
                    at: bundle + "/" + path,
                    "The file is in the seal, but not there.",
                    remedy: "Get the archive again, or sign it again without the file."
                )
            )
        }
        return faults.sorted { $0.place.utf8.lexicographicallyPrecedes($1.place.utf8) }
    }

    private static let signAgain = "It was changed after signing. Sign the archive again."

    private static func check(
        _ path: String,
        _ content: ResourceSeal.Content,
        _ seal: ResourceSeal,
        _ bundle: String
    ) -> [Fault] {
        let place = bundle + "/" + path
        let (entry1, entry2) = (seal.files[path], seal.files2[path])
        let rules = seal.rules2 ?? seal.rules
        let entry = seal.rules2 == nil ? entry1 : entry2
        guard let entry else {
            switch rules.kind(of: path) {
            case .required, .optional:
                return [
                    Fault(
                        .fileNotSealed,
                        at: place,
                        "The file is not in the seal.",
                        remedy: "It was added after signing. Sign the archive again."
                    )
                ]
            // Only sealed by the old rules, if at all: Info.plist and PkgInfo.
            case .omitted, .nested, nil: return differs(content, entry1) ? [changed(place)] : []
            }
        }
        if entry.isNestedCode { return [] }
        return differs(content, entry) || differs(content, entry1) ? [changed(place)] : []
    }

    private static func changed(_ place: String) -> Fault {
        Fault(.sealedFileChanged, at: place, "The file differs from the seal.", remedy: signAgain)
    }

    private static func differs(_ content: ResourceSeal.Content, _ entry: ResourceSeal.Entry?) -> Bool {
        guard let entry else { return false }
        switch content {
        case .link(let target):
            return entry.linkTarget != target
        case .file(let digests):
            if entry.linkTarget != nil || (entry.sha1 == nil && entry.sha256 == nil) { return true }
            return entry.sha1.map { $0 != digests.sha1 } ?? false || entry.sha256.map { $0 != digests.sha256 } ?? false
        }
    }
}
