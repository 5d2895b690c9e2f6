public import FerryBytes

/// Why a file could not be read, or laid out, as a Mach-O.
public struct MachOError: ExplainedError, Equatable {
    /// What kind of trouble it is.
    public enum Code: String, Sendable {
        /// The bytes are no Mach-O at all.
        case notMachO
        /// A header, load command or slice does not hold together.
        case malformed
        /// A form that iOS never had, such as big-endian code.
        case unsupported
        /// There is no room for one more load command.
        case headerFull
        /// A name that a load command cannot hold.
        case badName
        /// One library would be loaded by two commands.
        case duplicateLibrary
        /// Something lies behind `__LINKEDIT` or behind the signature.
        case trailingData
    }

    /// What kind of trouble it is.
    public let code: Code
    /// What is wrong, with offsets and numbers.
    public let message: String
    /// What helps.
    public let remedy: String?

    init(_ code: Code, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    /// A quantity past its limit.
    package static func tooLarge(_ message: String) -> MachOError {
        MachOError(.unsupported, message, remedy: "Get the app again from where it was published.")
    }

    static func malformed(_ message: String) -> MachOError {
        MachOError(
            .malformed,
            message,
            remedy: "The file is damaged or was cut short; get the archive again."
        )
    }

    /// The same error with the place it happened in front.
    package func inside(_ place: String) -> MachOError {
        MachOError(code, "\(place): \(message)", remedy: remedy)
    }
}
