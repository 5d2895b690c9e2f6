import FerryCodeSignature
import FerryZip

extension Sealer {
    /// How many of the files that are known are read all the same, to see whether what is known is true.
    static let sampleCount = 8
    /// Larger ones are no samples.
    private static let sampleBytes = 1 << 20

    /// The digests of those files that need not be read, by their index.
    func known(_ files: [ArchiveFile]) -> [Int: Digests] {
        var known: [Int: Digests] = [:]
        known.reserveCapacity(plan.survey.files.count)
        for file in files where file.newContent == nil && !file.isSymbolicLink && plan.contents.code[file.index] == nil
        {
            if case .resource(let digests)? = plan.survey.files[file.index] { known[file.index] = digests }
        }
        // What this process read itself a moment ago needs no samples.
        guard plan.look?.isKnown == true else { return known }
        let small = files.filter { known[$0.index] != nil && $0.size <= Self.sampleBytes }
        for _ in 0..<Self.sampleCount {
            guard let sample = small.randomElement() else { break }
            known[sample.index] = nil
        }
        return known
    }

    /// A file of code that is known and read all the same, where what is known was kept by an earlier process.
    func sampledCode() -> Int? {
        guard plan.look?.isKnown == true else { return nil }
        let small = plan.contents.code.values.filter {
            $0.file.newContent == nil && $0.file.size <= Self.hugeCode && plan.survey.code($0.file.index) != nil
        }
        return small.randomElement()?.file.index
    }

    /// What is known now; `nil` where that is no more than before.
    func learnt(_ read: some Sequence<(ArchiveFile, Hashed)>) -> ArchiveSurvey? {
        // Nobody keeps it.
        guard let look = plan.look else { return nil }
        var survey = plan.survey
        // What was read while the archive arrived is kept nowhere yet.
        var isMore = !look.isKnown
        for (file, hashed) in read where file.newContent == nil {
            switch hashed {
            // Damaged code is looked at each time.
            case .file(let digests)
            where plan.contents.code[file.index] == nil && plan.contents.damaged[file.index] == nil:
                isMore = isMore || !survey.isResource(file.index)
                survey.files[file.index] = .resource(digests)
            case .code(let prepared), .finished(let prepared, _, _):
                guard let code = prepared.survey else { continue }
                isMore = isMore || prepared.isNews && survey.code(file.index)?.agrees(with: code) != true
                survey.files[file.index] = .code(code)
            case .file, .link, .new: continue
            }
        }
        return isMore ? survey : nil
    }
}
