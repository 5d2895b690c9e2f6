import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryZip

/// Reads the entries of an archive of which only the start is there.
final class AheadReader {
    /// An entry whose size only its end tells.
    private struct Streamed {
        let local: LocalEntry
        let stream = EntryStream()
        var digests = RunningDigests()
    }

    private let options: SigningOptions
    private let workers: Workers
    private var generation = 0
    /// Where the next header is; `nil` where there is none that can be read.
    private var position: Int? = 0
    private var streamed: Streamed?
    /// The file, which may be given another name while it is read.
    private var file: FileSource?

    init(options: SigningOptions, workers: Workers) {
        self.options = options
        self.workers = workers
    }

    /// Reads all that has come since the last time.
    func read(_ work: AheadState.Work) async -> AheadState.Done {
        if generation != work.generation {
            (generation, position, streamed, file) = (work.generation, 0, nil, nil)
        }
        guard let source = try? open(work.path) else { return AheadState.Done() }
        file = source
        var done = AheadState.Done(name: AheadState.name(of: source))
        var whole: [LocalEntry] = []
        do {
            while let position, try step(position, source, work.front, &whole, &done.entries) {}
        } catch {
            // What is wrong is said when the whole archive is read.
            position = nil
        }
        done.entries += await survey(whole, source)
        return done
    }

    /// The file as long as it is now.
    private func open(_ path: String) throws -> FileSource {
        guard let file else { return try FileSource(path: path) }
        return try FileSource(duplicating: file.descriptor, path: path)
    }

    /// Looks at the entry at `position`; `false` where more must come.
    private func step(
        _ position: Int,
        _ source: FileSource,
        _ front: Int,
        _ whole: inout [LocalEntry],
        _ entries: inout [EntryAhead]
    ) throws -> Bool {
        if streamed != nil { return try advance(source, front, &whole, &entries) }
        let local: LocalEntry
        switch try LocalEntry.read(at: position, in: source, front: front) {
        case .entry(let found): local = found
        case .incomplete: return false
        case .end:
            self.position = nil
            return false
        }
        guard local.isSized else {
            // A stored one without a size ends nobody knows where.
            guard local.entry.method == .deflated else {
                self.position = nil
                return false
            }
            streamed = Streamed(local: local)
            return true
        }
        guard local.entry.dataRange.upperBound <= front, try goOn(behind: local, source, front) else { return false }
        whole.append(local)
        return true
    }

    /// Takes what has come of an entry without a size.
    private func advance(
        _ source: FileSource,
        _ front: Int,
        _ whole: inout [LocalEntry],
        _ entries: inout [EntryAhead]
    ) throws -> Bool {
        guard let now = streamed else { return false }
        var digests = now.digests
        let offset = now.local.entry.dataOffset
        let hasEnded = try now.stream.advance(from: offset, in: source, front: front) { digests.update($0) }
        streamed?.digests = digests
        guard hasEnded else { return false }
        let local = now.local.sized(
            compressed: now.stream.compressedSize,
            uncompressed: now.stream.uncompressedSize,
            crc32: now.stream.crc32
        )
        guard try goOn(behind: local, source, front) else { return false }
        streamed = nil
        if MachOFile.claims(try Inflater().prefix(of: local.entry, count: 8, in: source)) {
            whole.append(local)
        } else {
            entries.append(EntryAhead(local: local, file: .resource(digests.finish())))
        }
        return true
    }

    /// Moves behind an entry; `false` where what follows has not come.
    private func goOn(behind local: LocalEntry, _ source: FileSource, _ front: Int) throws -> Bool {
        guard let next = try local.next(in: source, front: front) else {
            // A descriptor takes 24 bytes at most, and the next signature four.
            if front - local.entry.dataRange.upperBound >= 28 { position = nil }
            return false
        }
        position = next
        return true
    }

    /// Hashes whole entries.
    private func survey(_ whole: [LocalEntry], _ source: FileSource) async -> [EntryAhead] {
        let preparer = CodePreparer(
            source: source,
            identity: options.identity,
            renames: [:],
            pageSize: options.pageSize,
            workers: workers
        )
        let wanted = whole.filter { !$0.entry.isDirectory && $0.entry.name.beginsExactly(with: "Payload/") }
        let surveyed = try? await workers.map(
            wanted,
            cost: { $0.entry.uncompressedSize },
            hugeCost: Sealer.hugeCode,
            context: { CodeReader() }
        ) { local, reader -> EntryAhead? in
            let file = ArchiveFile(local.entry)
            let look = file.size < 28 ? .other : try? CodeLook(at: file, edits: [], in: source, reader.inflater)
            switch look {
            case .other?:
                guard case .file(let digests)? = try? Sealer.hash(file, in: source, reader.inflater) else { return nil }
                return EntryAhead(local: local, file: .resource(digests))
            case .code(let code)? where !code.isFat:
                // As what is not known yet: where its old signature's room will do, that makes no difference.
                let prepared = try? preparer.prepare(code, as: .unnamed(file, isBundleExecutable: true), reader)
                return (prepared?.survey).map { EntryAhead(local: local, file: .code($0)) }
            // Their reading is for when the plan stands.
            case .code?, .damaged?, .refused?, nil: return nil
            }
        }
        return (surveyed ?? []).compactMap(\.self)
    }
}
