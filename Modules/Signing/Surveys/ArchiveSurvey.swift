import FerryCodeSignature
import FerryZip

/// What one pass over an archive found, whoever signs it.
struct ArchiveSurvey: Sendable {
    /// One file of the archive.
    enum File: Sendable {
        /// No code, with the digests of its bytes.
        case resource(Digests)
        // Apart, as they are few and large.
        indirect case code(CodeSurvey)
    }

    /// By the entries' index.
    var files: [Int: File] = [:]

    /// Whether an entry is known to be no code.
    func isResource(_ index: Int) -> Bool {
        if case .resource? = files[index] { true } else { false }
    }

    /// What is known of a file of code.
    func code(_ index: Int) -> CodeSurvey? {
        if case .code(let survey)? = files[index] { survey } else { nil }
    }
}

/// What a survey says of a file is not what the archive holds: it is of no use, and all is read.
struct SurveyMismatch: Error {}
