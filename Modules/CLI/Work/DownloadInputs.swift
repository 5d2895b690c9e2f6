import FerryBytes
import FerryDownload

extension Invocation {
    /// A downloader whose partial files outlive the process, as the command line wants it.
    func downloader() throws -> Downloader {
        var configuration = DownloadConfiguration(
            stateFolder: try Folders(environment: environment).downloads()
        )
        configuration.userAgent = "ferry/" + program.version
        if let count = arguments.numberIfDescribed("--connections") { configuration.connections = .fixed(count) }
        configuration.bytesPerSecond = try arguments.valueIfDescribed("--limit-rate").map(DownloadInputs.rate)
        configuration.proxy = arguments.valueIfDescribed("--proxy")
        configuration.caFile = arguments.valueIfDescribed("--ca-file")
        if arguments.flagIfDescribed("--netrc") { configuration.netrcFile = "" }
        if let file = arguments.valueIfDescribed("--netrc-file") {
            // libcurl takes a file that it cannot read for an empty one.
            _ = try WholeFile.read(file, limit: DownloadInputs.fileLimit)
            configuration.netrcFile = file
        }
        return try Downloader(configuration)
    }

    /// The fields that the command line wants to be sent along.
    func downloadHeaders() throws -> [DownloadHeader] {
        var headers: [DownloadHeader] = []
        if let file = arguments.value("--header-file") { headers += try DownloadInputs.headers(file) }
        if let file = arguments.value("--bearer-file") {
            let token = try DownloadInputs.lines(file).first ?? ""
            guard !token.isEmpty else {
                throw UsageError(.invalidValue, "\(file): the first line is empty.", advice: "Put the token there.")
            }
            headers.append(DownloadHeader("Authorization", "Bearer " + token))
        }
        return headers
    }
}

/// What the command line says about downloads, taken apart.
enum DownloadInputs {
    /// The most that a file of headers, a token or logins may have.
    static let fileLimit = 1 << 20

    /// `800k`, `2M`, `1G` or a number of bytes; the letters are thousands, as sizes are shown.
    static func rate(_ text: String) throws(UsageError) -> Int64 {
        let factors: [Character: Int64] = ["k": 1000, "K": 1000, "M": 1_000_000, "G": 1_000_000_000]
        let factor = text.last.flatMap { factors[$0] }
        let digits = factor == nil ? text[...] : text.dropLast()
        if !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(digits),
            case let (rate, overflow) = number.multipliedReportingOverflow(by: factor ?? 1), !overflow, rate > 0
        {
            return rate
        }
        throw UsageError(
            .invalidValue,
            "--limit-rate: “\(text)” is no number of bytes a second.",
            advice: "Give a whole number, with k, M or G behind it or nothing: 800k, 2M."
        )
    }

    /// A field a line; empty lines, and those that begin with `#`, are passed over.
    static func headers(_ path: String) throws -> [DownloadHeader] {
        try lines(path).enumerated().compactMap { index, line in
            guard !line.isEmpty, !line.hasPrefix("#") else { return nil }
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
                // Not the line itself: it may be a secret.
                throw UsageError(
                    .invalidValue,
                    "\(path), line \(index + 1): this is no header field.",
                    advice: "Write each as “Name: value”."
                )
            }
            return DownloadHeader(
                String(line[..<colon]),
                String(line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" })
            )
        }
    }

    /// The lines of a small text file, without spaces and line ends behind them.
    static func lines(_ path: String) throws -> [String] {
        let text = String(decoding: try WholeFile.read(path, limit: fileLimit), as: UTF8.self)
        // By `isNewline`, for CR and LF are one character.
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { line in
            var line = line
            while let last = line.last, last.isWhitespace { line = line.dropLast() }
            return String(line)
        }
    }
}
