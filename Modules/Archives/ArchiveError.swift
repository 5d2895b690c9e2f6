public import FerryBytes

/// Why a package, an archive or a folder of code to inject could not be used.
public struct ArchiveError: ExplainedError, Equatable {
    /// What kind of trouble it is.
    public enum Code: String, Sendable, CaseIterable {
        /// The file is something else.
        case notAnArchive
        /// A structure contradicts itself or ends too early.
        case malformed
        /// A name that leads out of the archive, or that no file can have.
        case badName
        /// Two files for one place.
        case duplicateName
        /// A symbolic link that leads out of the archive or folder, or that files lie beneath.
        case escapingLink
        /// A device, a pipe, an encrypted file, or a form of packing that is not read here.
        case unsupported
        /// A quantity past its limit in ``ArchiveLimits``.
        case limit
        /// There is no code in it.
        case nothingToInject
        /// The system refused to read.
        case readFailed
    }

    /// What kind of trouble it is.
    public let code: Code
    /// What is wrong and where.
    public let message: String
    /// What helps.
    public let remedy: String?

    init(_ code: Code, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy ?? code.remedy
    }

    /// A refusal of the system.
    static func reading(_ error: any Error) -> ArchiveError {
        switch error {
        case let error as ArchiveError: error
        case let error as FileFailure: ArchiveError(.readFailed, error.message, remedy: error.remedy)
        default: ArchiveError(.malformed, "The file ended while it was read: \(error).")
        }
    }

    /// The same error with the place it happened in front.
    func inside(_ place: String) -> ArchiveError {
        ArchiveError(code, "\(place.printable): \(message)", remedy: remedy)
    }
}

extension ArchiveError.Code {
    /// What helps where a fault of this kind gives no advice of its own.
    fileprivate var remedy: String? {
        switch self {
        case .notAnArchive: "Give a .dylib, a .framework, a .deb or a .zip of them."
        case .malformed: "Get it again from where it was published; it is damaged or was cut short."
        case .badName, .duplicateName, .escapingLink: "Do not use it; ask who made it for another one."
        case .unsupported: "Pack it anew from plain files and folders."
        case .limit: "Check what it is: no tweak is that large."
        case .nothingToInject: "Check that it is made for iOS apps; settings and themes alone cannot be injected."
        case .readFailed: nil
        }
    }
}
