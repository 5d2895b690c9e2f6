import FerryPropertyList
import Foundation
import TestKit
import Testing

/// Python's plistlib as a second opinion.
@Suite struct `Python's plistlib` {
    /// Loads every file of the folder `in`, and writes each anew in the forms that it is told.
    private static let convert = """
        import os, plistlib, sys
        for name in sorted(os.listdir("in")):
            value = plistlib.load(open("in/" + name, "rb"))
            for form in sys.argv[1:]:
                with open("out/" + name + "." + form, "wb") as file:
                    plistlib.dump(value, file, fmt=plistlib.PlistFormat["FMT_" + form.upper()], sort_keys=False)
        """

    @Test(.enabled(if: Tool("python3") != nil, "there is no python3"), .timeLimit(.minutes(10)))
    func `reads what we write, and writes what we read`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        try folder.write([], to: "out/keep")
        let trees = (0..<60).map { _ in RandomTree.dictionary(4, &generator) } + [everyKind]
        for (number, tree) in trees.enumerated() {
            try folder.write(tree.encoded(as: .xml), to: "in/\(number)x")
            try folder.write(tree.encoded(as: .binary), to: "in/\(number)b")
        }
        let result = try #require(Tool("python3")).run(["-c", Self.convert, "xml", "binary"], in: folder.path)
        try #require(result.status == 0, "\(result.errors), seed \(seed)")
        for (number, tree) in trees.enumerated() {
            let hint: Comment = "tree \(number), seed \(seed)"
            for source in ["x", "b"] {
                let xml = try PropertyList.parse(folder.read("out/\(number)\(source).xml")).value
                let binary = try folder.read("out/\(number)\(source).binary")
                #expect(xml == tree, hint)
                #expect(try PropertyList.parse(binary).value == tree, hint)
                #expect(xml.encoded(as: .xml) == tree.encoded(as: .xml), hint)
                #expect(binary == tree.encoded(as: .binary), hint)
            }
        }
    }

    @Test(
        .enabled(if: SharedFolder.exists, Comment(rawValue: SharedFolder.absent)),
        .enabled(if: [Tool("python3"), Tool("unzip")].allSatisfy({ $0 != nil }), "there is no python3 or unzip"),
        .timeLimit(.minutes(10))
    )
    func `agrees with us on every property list of real apps`() throws {
        let folder = try TemporaryFolder()
        try folder.write([], to: "out/keep")
        let corpus = SharedFolder.corpus("")
        var count = 0
        let take = { (bytes: [UInt8]) in
            guard bytes.starts(with: Array("bplist0".utf8)) || bytes.starts(with: Array("<?xml".utf8)) else { return }
            try folder.write(bytes, to: "in/\(count)")
            count += 1
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: corpus).sorted() {
            let path = corpus + name
            try take([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
            guard name.hasSuffix(".ipa") else { continue }
            let archive = try TemporaryFolder()
            try #require(Tool("unzip")).run(["-qq", "-o", path, "-d", archive.path])
            for file in try archive.contents() {
                var isFolder: ObjCBool = false
                guard FileManager.default.fileExists(atPath: archive.path(file), isDirectory: &isFolder),
                    !isFolder.boolValue
                else { continue }
                try take(archive.read(file))
            }
        }
        #expect(count >= 10)
        // Keyed archives have references, for which plistlib knows no XML.
        let result = try #require(Tool("python3")).run(["-c", Self.convert, "binary"], in: folder.path)
        try #require(result.status == 0, "\(result.errors)")
        for number in 0..<count {
            let bytes = try folder.read("in/\(number)")
            let (value, format) = try PropertyList.parse(bytes)
            #expect(try PropertyList.parse(folder.read("out/\(number).binary")).value == value, "file \(number)")
            #expect(try PropertyList.parse(value.encoded(as: format)).value == value, "file \(number)")
        }
    }
}

/// Trees of all that both property lists and plistlib can say.
private enum RandomTree {
    private static let pieces = [
        "a", "Z", "&", "<", ">", "\"", "'", " ", "\n", "\t", "]]>", "é", "u\u{308}", "データ", "😀", "%@", "\\", "\u{FFFD}",
        "ß",
    ]

    static func dictionary(_ depth: Int, _ generator: inout SeededGenerator) -> PropertyList {
        var dictionary = PropertyList.Dictionary()
        for _ in 0..<Int.random(in: 0...20, using: &generator) {
            dictionary[text(&generator)] = value(depth - 1, &generator)
        }
        return .dictionary(dictionary)
    }

    private static func value(_ depth: Int, _ generator: inout SeededGenerator) -> PropertyList {
        switch Int.random(in: 0..<(depth > 0 ? 10 : 8), using: &generator) {
        case 0: return .string(text(&generator))
        case 1:
            return .integer(Int64(truncatingIfNeeded: generator.next() >> UInt64.random(in: 0...63, using: &generator)))
        case 2: return .integer(Int64.random(in: -300...300, using: &generator))
        case 3: return .unsigned(generator.next() | 1 << 63)
        case 4: return .real(Double.random(in: -1e9...1e9, using: &generator))
        case 5: return .boolean(Bool.random(using: &generator))
        case 6:
            let seconds = Int.random(in: -60_000_000_000...240_000_000_000, using: &generator)
            return .date(PropertyListDate(secondsSince2001: Double(seconds)))
        case 7: return .data(generator.bytes(Int.random(in: 0...300, using: &generator)))
        case 8: return .array((0..<Int.random(in: 0...20, using: &generator)).map { _ in value(depth - 1, &generator) })
        default: return dictionary(depth, &generator)
        }
    }

    private static func text(_ generator: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0...20, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }
            .joined()
    }
}
