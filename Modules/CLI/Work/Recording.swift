import FerryActivity
import FerryBytes
import FerryPipeline
import FerryRecord
import FoundationEssentials

extension Invocation {
    /// The record of this machine's installs; says so where an old one had to be set aside.
    func record() async throws -> SQLiteRecord {
        let folder = try Folders.make(Folders(environment: environment).state + "/record")
        let record = try await SQLiteRecord(folder: folder) { Date() }
        if let notice = record.notice { console.note(notice.printable) }
        return record
    }

    /// Where the files of recorded installs are.
    func installFiles() throws -> InstallFiles {
        let folders = Folders(environment: environment)
        return InstallFiles(workFolder: try folders.work(), partialFolder: try folders.downloads())
    }

    /// Opens the record for `body`, and closes it however that ends, also when this task is cancelled.
    func withRecord<Value: Sendable>(_ body: (SQLiteRecord) async throws -> Value) async throws -> Value {
        let record = try await record()
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(record))
        } catch {
            result = .failure(error)
        }
        await record.close()
        return try result.get()
    }

    /// The installs that ID arguments mean: each an id, or the beginning of one that only one has.
    ///
    /// - Parameter all: those that `--all` means.
    func chosen(
        from installs: [RecordedInstall],
        all: (RecordedInstall) -> Bool
    ) throws -> [RecordedInstall] {
        let texts = arguments.values("ID")
        guard texts.isEmpty else {
            guard !arguments.flag("--all") else {
                throw UsageError(.conflictingOptions, "ID and --all exclude each other.", advice: "Give one of them.")
            }
            var chosen: [RecordedInstall] = []
            for text in texts {
                let install = try Self.install(text, in: installs)
                if !chosen.contains(where: { $0.id == install.id }) { chosen.append(install) }
            }
            return chosen
        }
        return installs.filter(all)
    }

    static func install(_ text: String, in installs: [RecordedInstall]) throws -> RecordedInstall {
        let typed = text.lowercased()
        if let exact = installs.first(where: { $0.id.rawValue == typed }) { return exact }
        let found = typed.isEmpty ? [] : installs.filter { $0.id.rawValue.hasPrefix(typed) }
        if found.count > 1 {
            throw UsageError(
                .invalidValue,
                "“\(text)” begins the ids of \(found.count) installs.",
                advice: "Give more of it: \(listed(found.prefix(4).map(\.id.rawValue), "or"))."
            )
        }
        guard let install = found.first else {
            throw RecordError(
                .unknown,
                "\(text): there is no such install.",
                remedy: "“ferry jobs --all” lists those there are."
            )
        }
        return install
    }
}

extension RecordedInstall {
    /// What people are told of where it is, in one word.
    var stateWord: String {
        switch outcome {
        case .installed: return "installed"
        case .delivered: return "delivered"
        case .failed: return "failed"
        case .cancelled: return "cancelled"
        case nil: break
        }
        if isCancelled { return "cancelling" }
        if isHeld { return "held" }
        return process == nil ? "stopped" : stage.rawValue
    }
}
