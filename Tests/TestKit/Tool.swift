import Foundation

/// A program that is not ours, asked for a second opinion.
public struct Tool: Sendable {
    /// What a program left behind.
    public struct Result: Sendable {
        /// Its exit code; negative for the signal that ended it.
        public let status: Int32
        /// What it wrote to standard output.
        public let output: [UInt8]
        /// What it wrote to standard error.
        public let errors: String

        /// The output as text.
        public var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// Where the program is.
    public let path: String

    /// Finds a program by its name; `nil` where the machine lacks it.
    public init?(_ name: String) {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":").map(String.init) ?? []
        for folder in folders + ["/usr/sbin", "/usr/local/sbin", "/usr/bin"] {
            let candidate = folder + "/" + name
            if FileManager.default.isExecutableFile(atPath: candidate) {
                path = candidate
                return
            }
        }
        return nil
    }

    /// Takes the program at `path`.
    public init(path: String) {
        self.path = path
    }

    /// Runs the program to its end; `environment` is added to ours.
    @discardableResult
    public func run(
        _ arguments: [String],
        input: [UInt8] = [],
        in folder: String? = nil,
        environment: [String: String] = [:]
    ) throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        if let folder {
            process.currentDirectoryURL = URL(fileURLWithPath: folder)
        }
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }

        // Files rather than pipes: a program that fills two pipes at once cannot block us.
        let scratch = try TemporaryFolder()
        try scratch.write(input, to: "in")
        let files = try ["out", "err"].map { name in
            try scratch.write([], to: name)
            return try FileHandle(forWritingTo: scratch.url.appendingPathComponent(name))
        }
        process.standardInput = try FileHandle(forReadingFrom: scratch.url.appendingPathComponent("in"))
        process.standardOutput = files[0]
        process.standardError = files[1]
        try process.run()
        process.waitUntilExit()
        let status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        return Result(
            status: status,
            output: try scratch.read("out"),
            errors: String(decoding: try scratch.read("err"), as: UTF8.self)
        )
    }
}
