public import FerryBytes

/// What is to be fetched, where it goes, and what is known of it beforehand.
public struct DownloadRequest: Sendable {
    /// `http:` or `https:`, a `file:` URL, or the path of a local file.
    ///
    /// A name and password in it are used, but are never written to disk or shown.
    public var url: String
    /// Other addresses of the same file, in the order in which they are asked when one before them fails for good.
    ///
    /// With ``sha256`` all of them are asked for parts at once; without it nothing could show that the parts fit together.
    public var mirrors: [String]
    /// The path of the finished file; its folder must exist, and a file that is there is replaced as a whole.
    public var destination: String
    /// How long the file must be; `nil` where nobody knows.
    public var expectedLength: Int64?
    /// The 32 bytes that its SHA-256 must be; `nil` leaves it unchecked.
    public var sha256: [UInt8]?
    /// Sent with each request to the URL's own host. Another host that it redirects to gets only `Accept`,
    /// `Accept-Language` and `User-Agent`, for any other may be a credential.
    public var headers: [DownloadHeader]
    /// Whether a 200 with `text/html` is the file itself. Where an archive is due, it is a login page or an error page.
    public var acceptsWebPages: Bool
    /// Whether it waits for ``Downloader/release(_:)`` before it does anything.
    public var startsHeld: Bool
    /// Whether a local file is copied to ``destination``. Otherwise it is used where it lies.
    public var copiesLocalFile: Bool
    /// What the partial file is called in the state folder, so that ``PartialFiles`` finds it without the URL: letters,
    /// digits and dashes. `nil` makes a name of the URL and the destination.
    public var partialName: String?

    /// How many connections; `nil` leaves it to the configuration.
    public var connections: ConnectionCount?
    /// How many bytes a second it may bring; `nil` for no limit of its own.
    public var bytesPerSecond: Int64?
    /// Of those that wait for their turn, the highest begins first; among equals, the one that came first.
    public var priority: Int

    /// Asks for `url` to become the file at `destination`.
    public init(
        url: String,
        mirrors: [String] = [],
        destination: String,
        expectedLength: Int64? = nil,
        sha256: [UInt8]? = nil,
        headers: [DownloadHeader] = [],
        acceptsWebPages: Bool = false,
        startsHeld: Bool = false,
        copiesLocalFile: Bool = false,
        connections: ConnectionCount? = nil,
        bytesPerSecond: Int64? = nil,
        priority: Int = 0
    ) {
        self.url = url
        self.mirrors = mirrors
        self.destination = destination
        self.expectedLength = expectedLength
        self.sha256 = sha256
        self.headers = headers
        self.acceptsWebPages = acceptsWebPages
        self.startsHeld = startsHeld
        self.copiesLocalFile = copiesLocalFile
        self.connections = connections
        self.bytesPerSecond = bytesPerSecond
        self.priority = priority
    }
}

/// A field that is sent along with a request.
public struct DownloadHeader: Sendable, Hashable {
    /// The field's name.
    public let name: String
    /// The field's value, hidden because it may be a credential.
    public let value: Secret

    /// Keeps the field; one with a line break in it is refused when the download starts.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = Secret(value)
    }
}

/// Names one download of one ``Downloader``.
public struct DownloadID: Sendable, Hashable {
    let number: UInt64
}

extension DownloadRequest {
    /// The request with an absolute destination, or what is wrong with it.
    func checked() throws(DownloadError) -> DownloadRequest {
        for header in headers {
            let isName = !header.name.isEmpty && header.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }
            let isValue = !header.value.revealed.utf8.contains { $0 == 0 || $0 == 0x0A || $0 == 0x0D }
            guard isName, isValue else {
                throw DownloadError(
                    .badRequest,
                    "The header “\(DownloadCourse.firstLine(of: Array(header.name.utf8)))” cannot be sent.",
                    remedy: "A header's name has no spaces and no colon; its value has no line breaks."
                )
            }
        }
        if let sha256, sha256.count != SHA256.length {
            throw DownloadError(
                .badRequest,
                "The expected SHA-256 has \(sha256.count) bytes instead of \(SHA256.length).",
                remedy: "Give all 64 hexadecimal digits of it."
            )
        }
        if let expectedLength, expectedLength < 0 {
            throw DownloadError(
                .badRequest,
                "The expected length is \(expectedLength).",
                remedy: "Give none, or zero and up."
            )
        }
        if let partialName, !PartialFiles.isName(partialName) {
            throw DownloadError(
                .badRequest,
                "“\(partialName)” is no name for a partial file.",
                remedy: "Use letters, digits and dashes."
            )
        }
        guard !destination.isEmpty, !destination.utf8.contains(0) else {
            throw DownloadError(.badRequest, "The destination is no path.", remedy: "Say where the file is to go.")
        }
        var checked = self
        checked.destination = try absolutePath(destination)
        return checked
    }
}
