import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What `ferry sign` will do with several archives: decided in whole before anything is begun.
struct ManyPlan: Sendable {
    /// One archive for one identity.
    struct Item: Sendable, Equatable {
        /// The archive.
        let input: String
        /// For whom, by the name in the list; `nil` for the one of the command line.
        let identity: String?
        /// Where the signed one goes.
        let output: String
        /// Whether what is there stays, for it is newer than the archive.
        var isSkipped = false
    }

    /// The folder that all outputs go below, without a slash at its end.
    let folder: String
    /// Archive by archive, and each for one identity after the other.
    private(set) var items: [Item] = []

    /// Decides where each goes: `folder/ARCHIVE`, or `folder/IDENTITY/ARCHIVE`.
    ///
    /// Refuses, with every reason, two archives of one name and outputs that are archives to be signed.
    ///
    /// - Parameter identities: their names; none for the one of the command line.
    init(_ inputs: [String], identities: [String], folder: String, skipsExisting: Bool) throws(UsageError) {
        let bare = String(decoding: folder.utf8.reversed().drop { $0 == UInt8(ascii: "/") }.reversed(), as: UTF8.self)
        self.folder = bare.isEmpty ? "/" : bare
        let start = bare.isEmpty ? "/" : bare + "/"
        var problems: [String] = []
        var seen: [String: String] = [:]
        let places = Set(inputs.compactMap { FilePlace($0)?.identity })
        for input in inputs {
            let name = input.pathParts.last ?? input
            if let other = seen.updateValue(input, forKey: name) {
                problems.append(
                    other == input
                        ? "\(input) is there twice" : "\(other) and \(input) would both become \(start + name)"
                )
                continue
            }
            let names: [String?] = identities.isEmpty ? [nil] : identities
            for identity in names {
                let output = start + (identity.map { $0 + "/" } ?? "") + name
                let old = FilePlace(output)
                if let old, places.contains(old.identity) {
                    problems.append("\(output) is one of the archives to sign")
                }
                items.append(
                    Item(
                        input: input,
                        identity: identity,
                        output: output,
                        isSkipped: skipsExisting && old?.isNewerFile(than: FilePlace(input)) == true
                    )
                )
            }
        }
        guard problems.isEmpty else { throw Self.refusal(problems) }
    }

    /// How many problems are told one by one.
    private static let toldProblems = 20

    private static func refusal(_ problems: [String]) -> UsageError {
        let told = problems.prefix(toldProblems) + (problems.count > toldProblems ? ["and so on"] : [])
        let list = problems.count == 1 ? " " + problems[0] + "." : told.map { "\n  • " + $0 }.joined()
        return UsageError(
            .conflictingOptions,
            "Nothing was begun:" + list,
            advice: "Sign archives of one name in separate calls, and give -o a folder of its own.",
            verb: Sign.verb.name
        )
    }

    /// The folders that outputs go to.
    var folders: [String] {
        var folders = [folder]
        for item in items where item.identity != nil {
            let folder = InputFile.folder(of: item.output)
            if !folders.contains(folder) { folders.append(folder) }
        }
        return folders
    }

    /// Makes the folders that are missing; gives them, the deepest first.
    func makeFolders() throws -> [String] {
        if FilePlace(folder) != nil, !InputFile.isFolder(folder) {
            throw InputError(
                message: "\(folder): this is a file, and several archives need a folder.",
                remedy: "Give -o the path of a folder; it is made where it is missing."
            )
        }
        var made: [String] = []
        for folder in folders where !InputFile.isFolder(folder) {
            try FerryBytes.makeFolders(folder, permissions: 0o755)
            made.insert(folder, at: 0)
        }
        return made
    }
}

/// What the system says of a file or folder.
private struct FilePlace {
    /// Which file it is, by whatever path.
    struct Identity: Hashable {
        let device: UInt64
        let number: UInt64
    }

    private let status: stat

    /// Asks the system; `nil` where there is nothing.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.status = status
    }

    var identity: Identity { Identity(device: UInt64(status.st_dev), number: UInt64(status.st_ino)) }

    /// Whether it is a file, and was written later than `other`.
    func isNewerFile(than other: FilePlace?) -> Bool {
        guard status.st_mode & S_IFMT == S_IFREG, let other else { return false }
        let (mine, theirs) = (status.modified, other.status.modified)
        return (mine.tv_sec, mine.tv_nsec) > (theirs.tv_sec, theirs.tv_nsec)
    }
}

extension Invocation {
    /// Whether `ferry sign` is to take several archives, or one in the manner of several.
    var signsMany: Bool {
        let (inputs, output) = (arguments.values("IN"), arguments.required("--output"))
        return inputs.count != 1 || [Option].many.contains { arguments.isGiven($0.name) }
            || InputFile.isFolder(inputs[0]) || InputFile.isFolder(output) || output.hasSuffix("/")
    }

    /// The archives that IN and `--list` name, in that order; a folder stands for all in it, by their names.
    func archivePaths() throws -> [String] {
        var paths = arguments.values("IN")
        if let list = arguments.value("--list") {
            paths += try Self.lines(of: InputFile.bytes(list, takesDash: true), list)
        }
        let archives = try paths.flatMap { path in
            guard InputFile.isFolder(path) else { return [path] }
            let files = try InputFile.files(in: path, endings: ["ipa"], largest: .max)
            guard !files.isEmpty else {
                throw InputError(
                    message: "\(path): there is no .ipa in this folder.",
                    remedy: "Give the folder itself: those in it are not searched."
                )
            }
            guard files.count < InputFile.maximumCount else {
                throw InputError(
                    message: "\(path): there are \(InputFile.maximumCount) archives in this folder, or more.",
                    remedy: "Sign them in parts, with --list."
                )
            }
            return files
        }
        guard !archives.isEmpty else {
            throw InputError(
                message: "\(arguments.value("--list") ?? "The list"): it names no archive.",
                remedy: "Write a path in each line."
            )
        }
        return archives
    }

    /// The lines of a list that are neither blank nor begin with `#`, without the mark that editors for Windows write
    /// before the first.
    static func lines(of bytes: [UInt8], _ file: String) throws(InputError) -> [String] {
        var lines: [String] = []
        let bytes = bytes.starts(with: "\u{FEFF}".utf8) ? bytes.dropFirst(3) : bytes[...]
        for (number, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            guard let first = line.first(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }),
                first != UInt8(ascii: "#")
            else { continue }
            guard let path = String(validating: line, as: UTF8.self), !line.contains(0) else {
                throw InputError(
                    message: "\(file): line \(number + 1) is not UTF-8 text.",
                    remedy: "Write a path in each line; is this the right file?"
                )
            }
            lines.append(path)
        }
        return lines
    }
}
