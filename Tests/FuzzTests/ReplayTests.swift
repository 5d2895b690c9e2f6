import Foundation
import FuzzTargets
import TestKit
import Testing

/// The inputs of one target that are kept in the repository.
struct Corpus: Sendable, CustomTestStringConvertible {
    static let all = FuzzTarget.all.map { Corpus(target: $0) }

    let target: FuzzTarget
    var testDescription: String { target.name }

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "FuzzCorpora")

    /// The inputs by their files' names.
    func inputs() throws -> [(name: String, bytes: [UInt8])] {
        let folder = Self.folder.appending(path: target.name)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            (name, Array(try Data(contentsOf: folder.appending(path: name))))
        }
    }
}

/// A run on an input that did not go as it should.
struct Failure: CustomStringConvertible {
    let description: String

    init?(_ target: FuzzTarget, _ name: String, _ bytes: [UInt8]) {
        do {
            try target.run(bytes)
            return nil
        } catch {
            description = "\(target.name)/\(name): \(error) The input: \(Data(bytes).base64EncodedString())"
        }
    }
}

@Suite struct `A reader of foreign bytes` {
    /// How many damaged inputs are tried for each target.
    static let damagedCount = 300

    @Test(arguments: Corpus.all)
    func `takes or refuses each input that was kept`(_ corpus: Corpus) async throws {
        let inputs = try corpus.inputs()
        #expect(!inputs.isEmpty, "\(Corpus.folder.path) has no inputs for it")
        let failures = try await onThread { inputs.compactMap { Failure(corpus.target, $0.name, $0.bytes) } }
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test(arguments: Corpus.all)
    func `takes or refuses what was damaged`(_ corpus: Corpus) async throws {
        let inputs = try corpus.inputs()
        try #require(!inputs.isEmpty)
        let failures = try await onThread {
            // Names the number that an input grew from: a failure is had again by its base64, or by this.
            var generator = SeededGenerator(seed: 20_261_130)
            return (0..<Self.damagedCount).compactMap { number in
                let (name, bytes) = inputs[Int(generator.next() % UInt64(inputs.count))]
                let damaged = generator.damaged(bytes, limit: corpus.target.maximumBytes)
                return Failure(corpus.target, "\(name), damage \(number) of seed \(generator.seed)", damaged)
            }
        }
        #expect(failures.isEmpty, "\(failures)")
    }
}

extension SeededGenerator {
    /// Bytes with one to four changes: other values, a part cut out, doubled, or moved.
    fileprivate mutating func damaged(_ bytes: [UInt8], limit: Int) -> [UInt8] {
        var bytes = bytes
        for _ in 0...next() % 4 {
            let place = below(bytes.count + 1)
            let count = min(below(16) + 1, bytes.count - place)
            let part = Array(bytes[place..<place + count])
            switch next() % 6 {
            case 0: for index in place..<place + count { bytes[index] = UInt8(truncatingIfNeeded: next()) }
            case 1: if count > 0 { bytes[place] ^= 1 << UInt8(next() % 8) }
            case 2: if count > 0 { bytes[place] = [0, 1, 0x7F, 0x80, 0xFF][below(5)] }
            case 3: bytes.removeSubrange(place..<place + count)
            case 4: bytes.insert(contentsOf: part, at: below(bytes.count + 1))
            default: bytes.removeSubrange(place...)
            }
        }
        return Array(bytes.prefix(limit))
    }

    private mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}
