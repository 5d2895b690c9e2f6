import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryZip
import Foundation

/// How long the parts of a signature take alone: `ferry-benchmarks ARCHIVE P12 PASSWORD-FILE [RUNS]`.
///
/// Each part works on the archive's largest file of code that is no universal file; one line a part, with the median.
@main
enum Benchmarks {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 4 else {
            FileHandle.standardError.write(Data("usage: ferry-benchmarks ARCHIVE P12 PASSWORD-FILE [RUNS]\n".utf8))
            exit(2)
        }
        let runs = arguments.count > 4 ? Int(arguments[4]) ?? 11 : 11
        let password = try String(contentsOfFile: arguments[3], encoding: .utf8)
        let identity = try Identity(
            pkcs12: Array(try Data(contentsOf: URL(fileURLWithPath: arguments[2]))),
            password: Secret(password.trimmingCharacters(in: .newlines))
        )
        let code = try LargestCode(in: arguments[1])
        print("\(code.entry.name): \(code.entry.compressedSize) bytes, unpacked \(code.entry.uncompressedSize)")
        let bench = Bench(runs: max(1, runs))
        try bench.unpacking(code)
        try bench.hashing(code)
        try bench.packing(code)
        try bench.signing(code, identity)
        try bench.sealing()
    }
}

/// A file of code, packed and unpacked.
struct LargestCode {
    let entry: ZipEntry
    let packed: [UInt8]
    let content: [UInt8]
    let image: MachOImage
    let boundaries: [BlockBoundary]

    init(in path: String) throws {
        let source = try FileSource(path: path)
        let inflater = Inflater()
        let entries = try ZipDirectory(source).entries.sorted { $0.uncompressedSize > $1.uncompressedSize }
        for entry in entries {
            guard try MachOFile.claims(inflater.prefix(of: entry, count: 8, in: source)) else { continue }
            let content = try inflater.contents(of: entry, in: source)
            guard let file = try? MachOFile(content), !file.isFat else { continue }
            let packed = try source.bytes(at: entry.dataOffset, count: entry.compressedSize)
            var output = content
            boundaries = try output.withUnsafeMutableBytes { output in
                try packed.withUnsafeBytes {
                    try inflater.inflateRecordingBlocks(entry, compressed: $0, into: output)
                }
            }
            (self.entry, self.packed, self.content, image) = (entry, packed, content, file.slices[0].image)
            return
        }
        throw CocoaError(.fileReadCorruptFile)
    }

    /// Where a new signature goes.
    var cut: Int { image.keptEnd ?? content.count }
}

/// Runs parts and prints what they take.
struct Bench {
    let runs: Int

    /// - Parameter bytes: how many each run works through; 0 where that says nothing.
    func row(_ name: String, bytes: Int, _ body: () throws -> Void) rethrows {
        let clock = ContinuousClock()
        var times: [Double] = []
        for turn in 0...runs {
            let time = try clock.measure(body)
            let (seconds, attoseconds) = time.components
            if turn > 0 { times.append(Double(seconds) + Double(attoseconds) / 1e18) }
        }
        let median = times.sorted()[times.count / 2]
        let rate = bytes > 0 ? String(format: "%8.0f MB/s", Double(bytes) / median / 1e6) : ""
        let padded = name.padding(toLength: 34, withPad: " ", startingAt: 0)
        print(padded + String(format: "%9.3f ms", median * 1e3) + rate + "   median of \(runs)")
    }

    func unpacking(_ code: LargestCode) throws {
        let inflater = Inflater()
        let size = code.content.count
        var packed = code.packed
        var output = [UInt8](repeating: 0, count: size + Inflater.seamRoom)
        try row("inflate (libdeflate)", bytes: size) {
            try output.withUnsafeMutableBytes { output in
                try packed.withUnsafeBytes {
                    let whole = UnsafeMutableRawBufferPointer(rebasing: output[..<size])
                    try inflater.inflate(code.entry, compressed: $0, into: whole)
                }
            }
        }
        try row("inflate, and prove a seam", bytes: size) {
            try output.withUnsafeMutableBytes { output in
                try packed.withUnsafeMutableBytes {
                    _ = try inflater.inflateKeepingSeams(code.entry, compressed: $0, into: output, cut: code.cut)
                }
            }
        }
        try row("inflate, every block (zlib)", bytes: size) {
            try output.withUnsafeMutableBytes { output in
                try packed.withUnsafeBytes {
                    let whole = UnsafeMutableRawBufferPointer(rebasing: output[..<size])
                    _ = try inflater.inflateRecordingBlocks(code.entry, compressed: $0, into: whole)
                }
            }
        }
    }

    func hashing(_ code: LargestCode) throws {
        code.content.withUnsafeBytes { content in
            for algorithm in HashAlgorithm.allCases {
                row("hash, \(algorithm)", bytes: content.count) { _ = algorithm.digest(content) }
                for pageSize in [4096, 16384] {
                    row("pages of \(pageSize), \(algorithm)", bytes: content.count) {
                        _ = PageHasher.slots(of: content, pageSize: pageSize, with: Digester(algorithm))
                    }
                }
            }
            row("both hashes of a seal", bytes: content.count) {
                var digests = RunningDigests()
                digests.update(content)
                _ = digests.finish()
            }
        }
    }

    func packing(_ code: LargestCode) throws {
        let tail = [UInt8](repeating: 7, count: code.content.count - code.cut)
        let splice = code.content[..<code.cut].withUnsafeBytes {
            DeflateSplice(entry: code.entry, boundaries: code.boundaries, content: $0, changedPrefix: 0)
        }
        guard let splice else { return print("no block of it serves for a splice") }
        row("prepare a splice", bytes: code.cut) {
            code.content[..<code.cut].withUnsafeBytes {
                _ = DeflateSplice(entry: code.entry, boundaries: code.boundaries, content: $0, changedPrefix: 0)
            }
        }
        try row("finish a splice", bytes: splice.rest.count + tail.count) { _ = try splice.finish(tail: tail) }
    }

    func signing(_ code: LargestCode, _ identity: Identity) throws {
        let recipe = try SignatureRecipe(
            identifier: "com.example.app",
            image: code.image,
            algorithms: [.sha256],
            pageSize: 16384,
            entitlements: nil,
            isBundleExecutable: false,
            identity: identity
        )
        let slots = code.content[..<code.cut].withUnsafeBytes {
            PageHasher.slots(of: $0, pageSize: 16384, with: Digester(.sha256))
        }
        try row("code directory and CMS", bytes: 0) {
            _ = try recipe.signature(
                codeSlots: [slots],
                codeLimit: code.cut,
                room: recipe.size(codeLimit: code.cut),
                infoPlist: nil,
                resources: nil,
                identity: identity,
                time: 1_790_000_000
            )
        }
    }

    func sealing() throws {
        let digests = Digests(of: [1, 2, 3])
        let contents = (0..<2500).map { index in
            (path: "Assets/folder\(index % 50)/picture_\(index)@2x.png", content: ResourceSeal.Content.file(digests))
        }
        let seal = ResourceSeal.encoded(contents, includesSHA1: false)
        row("seal of 2500 files", bytes: seal.count) { _ = ResourceSeal.encoded(contents, includesSHA1: false) }
        try row("read that seal", bytes: seal.count) { _ = try ResourceSeal(parsing: seal) }
    }
}
