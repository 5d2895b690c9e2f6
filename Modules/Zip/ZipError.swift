public import FerryBytes

/// What is wrong with an archive, or what kept one from being written.
public struct ZipError: ExplainedError, Equatable {
    /// The kinds of faults that a caller may want to tell apart.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The file is something else.
        case notAnArchive
        /// The file ends too early.
        case truncated
        /// A structure contradicts itself, another one, or the specification.
        case malformed
        /// A name that no file can have, or that readers would take differently.
        case badName
        /// Two entries for one place.
        case duplicateName
        /// Two entries share bytes.
        case overlap
        /// A name that leads out of the folder that the archive is unpacked to.
        case escapingName
        /// A symbolic link that leads out of its app, or that entries lie beneath.
        case escapingLink
        /// The entry cannot be read without a password.
        case encrypted
        /// A part of the format that is not read here.
        case unsupported
        /// A quantity past its limit in ``ZipLimits``.
        case limit
        /// An entry has more or fewer bytes than the directory says.
        case sizeMismatch
        /// An entry's bytes are not those that were packed.
        case checksum
        /// The system refused to read; see ``ZipError/cause``.
        case readFailed
        /// The system refused to write; see ``ZipError/cause``.
        case writeFailed
    }

    /// What kind of fault it is.
    public let code: Code
    /// The name of the entry at fault; `nil` where it is the archive as a whole.
    public let entry: String?
    /// What happened and where.
    public let message: String
    /// What the reader can do about it.
    public let remedy: String?
    /// The system's refusal behind it, if there was one.
    public let cause: FileFailure?

    init(_ code: Code, entry: String? = nil, _ text: String, remedy: String? = nil) {
        self.code = code
        self.entry = entry
        message = entry.map { Self.shown($0) + ": " + text } ?? text
        self.remedy = remedy ?? code.remedy
        cause = nil
    }

    private init(_ code: Code, entry: String?, cause: FileFailure) {
        self.code = code
        self.entry = entry
        message = cause.message
        remedy = cause.remedy
        self.cause = cause
    }

    /// The error that reading from a source ended with, as one of ours.
    package static func reading(_ error: any Error, entry: String? = nil) -> ZipError {
        switch error {
        case let error as ZipError: error
        case let error as FileFailure: ZipError(.readFailed, entry: entry, cause: error)
        case let error as OutOfBounds:
            ZipError(.truncated, entry: entry, "The file ended while it was read: \(error).")
        default: ZipError(.readFailed, entry: entry, "The archive cannot be read: \(error).")
        }
    }

    /// A write that failed.
    static func writing(_ failure: FileFailure) -> ZipError {
        ZipError(.writeFailed, entry: nil, cause: failure)
    }

    /// A name as it can be put on a terminal: control characters, which could steer it, are spelled out.
    static func shown(_ name: String) -> String {
        guard name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return name }
        var text = ""
        for scalar in name.unicodeScalars {
            if scalar.properties.generalCategory == .control {
                text += "\\u{" + String(scalar.value, radix: 16) + "}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension ZipError.Code {
    /// What helps where a fault of this kind gives no advice of its own.
    var remedy: String? {
        switch self {
        case .notAnArchive: "Check that it is an .ipa or .zip archive, and not a web page or another format."
        case .truncated: "Download the archive again; it was cut short."
        case .malformed, .sizeMismatch, .checksum: "Download the archive again; if it stays so, pack it anew."
        case .badName, .duplicateName, .overlap: "Pack the archive anew from its files."
        case .escapingName, .escapingLink: "Do not unpack this archive; ask who made it for another one."
        case .encrypted: "Unpack it with its password and pack it anew without."
        case .unsupported: "Pack the archive anew, stored or deflated and in one file."
        case .limit: "Raise the limit if whoever made the archive is trusted."
        case .readFailed, .writeFailed: nil
        }
    }
}
