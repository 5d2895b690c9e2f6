import FerryAppBundle
import FerryBytes
import FerryPropertyList
import FerrySigning
import FerryZip

extension FuzzTarget {
    /// Archives, and texts in the forms of property lists.
    static let formats = [
        FuzzTarget("zip", zip),
        FuzzTarget("property-list", propertyList),
        FuzzTarget("strings", strings),
        FuzzTarget("json", json),
        FuzzTarget("recipe", recipe),
        FuzzTarget("profile", maximumBytes: 16384, profile),
    ]

    // MARK: ZIP

    /// What an archive may ask for here: little, as a fuzzer has many to try.
    private static let zipLimits = {
        var limits = ZipLimits()
        limits.entryBytes = 1 << 20
        limits.totalBytes = 4 << 20
        limits.entryCount = 1000
        return limits
    }()

    @Sendable private static func zip(_ bytes: [UInt8]) throws {
        let source = MemorySource(bytes)
        guard let directory = try? ZipDirectory(source, limits: zipLimits) else { return }
        let entries = directory.entries
        try expect(entries.count <= zipLimits.entryCount, "there are no more entries than the limit")
        let inflater = Inflater()
        for entry in entries {
            try expect(directory.entry(named: entry.name) == entry, "an entry is found by its name")
            let whole = try? inflater.contents(of: entry, in: source)
            try expect((whole?.count ?? entry.uncompressedSize) == entry.uncompressedSize, "an entry has its size")
            try tolerate {
                let start = try inflater.prefix(of: entry, count: 64, in: source)
                if let whole { try expect(start.elementsEqual(whole.prefix(64)), "a beginning is the beginning") }
            }
            var pieces: [UInt8]?
            try tolerate {
                var read: [UInt8] = []
                try inflater.read(entry, in: source) { read += $0 }
                pieces = read
            }
            try expect(pieces == whole, "reading in pieces gives the same")
            // The other way round it need not be: libdeflate takes the codes 286 and 287, which zlib refuses.
            let walked = try blocks(of: entry, in: source, inflater)
            try expect(walked == nil || walked == whole, "reading with blocks gives the same")
            try seams(of: entry, in: source, inflater, whole)
            try tolerate {
                let found = try LocalEntry.read(at: entry.localHeaderOffset, in: source, front: bytes.count)
                guard case .entry(let local) = found, local.isSized else { return }
                try expect(local.isSame(as: entry) || entry.hasDataDescriptor, "an entry is the same by its own header")
                _ = try local.next(in: source, front: bytes.count)
            }
        }
        try? directory.checkLinks(in: source, limits: zipLimits)
        for link in entries where link.isSymbolicLink { _ = try? directory.linkTarget(of: link, in: source) }
        try tolerate {
            let copy = MemorySource(try archiveBytes(entries.map { .copy($0) }, from: source))
            guard let again = try? ZipDirectory(copy, limits: zipLimits) else {
                throw FuzzFinding(description: "The copy of an archive cannot be read.")
            }
            try expect(again.entries.map(\.name) == entries.map(\.name), "a copy has the same names")
            try expect(
                again.entries.map { try? inflater.contents(of: $0, in: copy) }
                    == entries.map { try? inflater.contents(of: $0, in: source) },
                "a copy has the same contents"
            )
        }
    }

    /// Looks for a seam from the end, at several cuts.
    private static func seams(
        of entry: ZipEntry,
        in source: MemorySource,
        _ inflater: Inflater,
        _ whole: [UInt8]?
    ) throws {
        guard let packed = try? source.bytes(at: entry.dataOffset, count: entry.compressedSize) else { return }
        for cut in [entry.uncompressedSize, entry.uncompressedSize / 2, min(1, entry.uncompressedSize)] {
            var input = packed
            var output = [UInt8](repeating: 0, count: entry.uncompressedSize + Inflater.seamRoom)
            var boundaries: [BlockBoundary]?
            try tolerate {
                boundaries = try input.withUnsafeMutableBytes { input in
                    try output.withUnsafeMutableBytes {
                        try inflater.inflateKeepingSeams(entry, compressed: input, into: $0, cut: cut, guessingFrom: 0)
                    }
                }
            }
            try expect(input == packed, "packed bytes come out as they went in")
            guard let boundaries else { continue }
            output.removeLast(Inflater.seamRoom)
            try expect(output == whole, "reading with a seam gives the same")
            let splice = output[..<cut].withUnsafeBytes {
                DeflateSplice(entry: entry, boundaries: boundaries, content: $0, changedPrefix: 0)
            }
            guard let splice else { continue }
            try tolerate {
                let end = [1, 2, 3] as [UInt8]
                let encoded = try splice.finish(tail: end)
                let archive = MemorySource(try archiveBytes([.replace(entry, encoded)], from: source))
                let again = try ZipDirectory(archive, limits: zipLimits).entries[0]
                try expect(
                    try inflater.contents(of: again, in: archive) == output[..<cut] + end,
                    "a splice holds the new bytes"
                )
            }
        }
    }

    /// The bytes of an entry, read as ``DeflateSplice`` needs them.
    private static func blocks(of entry: ZipEntry, in source: MemorySource, _ inflater: Inflater) throws -> [UInt8]? {
        guard let packed = try? source.bytes(at: entry.dataOffset, count: entry.compressedSize) else { return nil }
        var output = [UInt8](repeating: 0, count: entry.uncompressedSize)
        var boundaries: [BlockBoundary] = []
        do {
            boundaries = try packed.withUnsafeBytes { packed in
                try output.withUnsafeMutableBytes {
                    try inflater.inflateRecordingBlocks(entry, compressed: packed, into: $0)
                }
            }
        } catch {
            return nil
        }
        let places = boundaries.map(\.uncompressedOffset)
        try expect(places == places.sorted() && (places.last ?? 0) <= output.count, "blocks lie in order, and inside")
        return output
    }

    // MARK: Property lists

    /// Whether a value's bytes are read as the value that they were made from, in both encodings.
    static func expectRoundTrip(_ value: PropertyList) throws {
        for format in [PropertyList.Format.xml, .binary] {
            let written = value.encoded(as: format)
            guard let (again, found) = try? PropertyList.parse(written) else {
                throw FuzzFinding(description: "What was written as \(format) cannot be read.")
            }
            try expect(found == format, "\(format) is read as \(format)")
            // By their bytes: a real may be no number, which equals nothing.
            try expect(again.encoded(as: format) == written, "\(format) that was read again is written as before")
        }
    }

    @Sendable private static func propertyList(_ bytes: [UInt8]) throws {
        let limits = PropertyList.Limits(maximumByteCount: 1 << 20, maximumDepth: 128, maximumValueCount: 100_000)
        if let (value, _) = try? PropertyList.parse(bytes, limits: limits) { try expectRoundTrip(value) }
        if let info = try? InfoPlist(bytes: bytes) {
            _ = (info.identifier, info.executable, info.platform)
            _ = info.iconFiles(among: ["AppIcon60x60@2x.png", "icon.png"])
            try expect((try? InfoPlist(bytes: info.encoded())) != nil, "an Info.plist that was written can be read")
        }
    }

    @Sendable private static func strings(_ bytes: [UInt8]) throws {
        guard let file = try? StringsFile(bytes: bytes) else { return }
        for key in ["CFBundleDisplayName", "neu \"\\ \n/*"] {
            let value = "Häfen \"\\\n;*/ 🚢"
            guard let again = try? StringsFile(bytes: file.setting(key, to: value)) else {
                throw FuzzFinding(description: "A file with one text changed cannot be read.")
            }
            try expect(again[key] == value, "a text that was set is there")
            for (other, text) in file.dictionary where other != key {
                try expect(again.dictionary[other] == text, "a text that was not set stays")
            }
        }
    }

    @Sendable private static func json(_ bytes: [UInt8]) throws {
        guard let value = try? PropertyList.parse(json: bytes) else { return }
        try expectRoundTrip(value)
    }

    @Sendable private static func recipe(_ bytes: [UInt8]) throws {
        if let recipe = try? SigningRecipe(json: bytes, folder: "/folder") {
            _ = recipe.overridden(by: recipe)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        if let key = try? SigningRecipe.Key(text) {
            guard let again = try? SigningRecipe.Key(key.description) else {
                throw FuzzFinding(description: "A key that was written cannot be read.")
            }
            try expect(again == key, "a key that was written is read as it was")
            var list: PropertyList = ["a": ["b", ["c": 1]], "d": "e"]
            try? list.set("value", at: key.path)
            _ = list.remove(at: key.path)
        }
        for present in [nil, "text", 1] as [PropertyList?] {
            if let value = try? PropertyList(typed: text, replacing: present) { try expectRoundTrip(value) }
        }
    }

    @Sendable private static func profile(_ bytes: [UInt8]) throws {
        guard let profile = try? ProvisioningProfile(bytes: bytes) else { return }
        _ = profile.problems(
            for: "com.example.harbour",
            certificateDER: Array(bytes.prefix(64)),
            at: 1_750_000_000,
            platform: .iOS,
            device: "00008030-001"
        )
        _ = (profile.teamIdentifier, profile.kind, profile.isWildcard)
        _ = profile.appGroup(insteadOf: "group.example")
        try expectRoundTrip(.dictionary(profile.entitlements))
    }
}
