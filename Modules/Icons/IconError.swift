public import FerryBytes

/// What is wrong with a picture, or why nothing can be made of it.
public struct IconError: ExplainedError, Hashable {
    /// What kind of fault it is.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The file is something else.
        case notPNG
        /// The file ends too early.
        case truncated
        /// A structure contradicts itself, another one, or the specification.
        case malformed
        /// A part's bytes are not those that were written.
        case checksum
        /// A quantity past its limit in ``PNGLimits``.
        case limit
        /// A part of the format that is not read here.
        case unsupported
        /// The packed pixels are damaged, too few or too many.
        case badPixels
        /// No picture of it is small enough.
        case noRoom
    }

    /// What kind of fault it is.
    public let code: Code
    /// What is wrong and where.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// What to do about it.
    public var remedy: String? {
        switch code {
        case .notPNG: "Give a PNG, as Xcode puts it into apps or any other."
        case .truncated, .checksum: "Get the picture again; it was cut short or changed on its way."
        case .malformed, .badPixels: "Save the picture anew with another program."
        case .limit: "Make the picture smaller; an icon has at most 1,024 pixels a side."
        case .unsupported: "Save the picture as a plain PNG."
        case .noRoom: "Allow more bytes."
        }
    }
}

/// How much of a picture is believed; no icon comes near.
public enum PNGLimits {
    /// Bytes of a file.
    public static let fileBytes = 16 << 20
    /// Pixels in a row, and rows.
    public static let side = 8_192
    /// Pixels of a picture, which bounds the memory: 8 bytes for each, and as many again while it is converted.
    public static let pixels = 4 << 20
    /// Parts of a file.
    public static let chunks = 65_536
}
