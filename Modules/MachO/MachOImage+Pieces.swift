import FerryBytes

extension MachOImage {
    /// What the load commands say, gathered one by one.
    struct Pieces {
        var segments: [Segment] = []
        var codeSignature: Region?
        var isEncrypted = false
        var platform: UInt32?
        var minimumOS: UInt32?
        var libraries: [Library] = []
        private var ordinals = 0
        var rpaths: [String] = []
        var contentStart: Int?
        var installName: String?
        var uuid: [UInt8]?

        mutating func take(
            _ command: LoadCommand,
            at index: Int,
            from reader: ByteReader,
            imageSize: Int
        ) throws {
            let body = ByteReader(try reader.bytes(at: command.offset, count: command.size))
            switch command.number {
            case 0x01: takeSegment(try Self.segment(command, body, in: imageSize, wide: false))
            case 0x19: takeSegment(try Self.segment(command, body, in: imageSize, wide: true))
            case MachOImage.codeSignatureCommand: try takeSignature(body, in: imageSize)
            case 0x21, 0x2C: isEncrypted = try body.integer(at: 16, as: UInt32.self, .little) != 0
            case 0x32:
                platform = try body.integer(at: 8, .little)
                minimumOS = try body.integer(at: 12, .little)
            case 0x24, 0x25, 0x2F, 0x30: try takeOldMinimum(command.number, body)
            case 0x1B: uuid = Array(try body.bytes(at: 8, count: 16))
            case Library.idCommand: installName = String(decoding: try Library.name(in: body), as: UTF8.self)
            case Library.rpathCommand: rpaths.append(String(decoding: try Library.name(in: body), as: UTF8.self))
            default:
                guard Library.Kind(command: command.number) != nil else { break }
                let library = try Library(command.number, at: index, body, ordinal: ordinals + 1)
                if library.ordinal != nil { ordinals += 1 }
                libraries.append(library)
            }
            takeContent(command.number, body)
        }

        private mutating func takeSegment(_ segment: Segment) {
            segments.append(segment)
            if segment.fileOffset > 0, segment.fileSize > 0 { takeContent(at: segment.fileOffset) }
            if let start = segment.firstSectionOffset { takeContent(at: start) }
        }

        private mutating func takeContent(at offset: Int) {
            contentStart = min(contentStart ?? offset, offset)
        }

        /// Where load commands other than segments say that there is content: code without sections lies somewhere too.
        private mutating func takeContent(_ number: UInt32, _ body: ByteReader) {
            // Each pair is the place of an offset and the place of a size or count, 32 bits each.
            let pairs: [(Int, Int)] =
                switch number {
                // LC_SYMTAB
                case 0x02: [(8, 12), (16, 20)]
                // LC_DYSYMTAB
                case 0x0B: [(32, 36), (40, 44), (48, 52), (56, 60), (64, 68), (72, 76)]
                // LC_ENCRYPTION_INFO and LC_ENCRYPTION_INFO_64
                case 0x21, 0x2C: [(8, 12)]
                // LC_DYLD_INFO and LC_DYLD_INFO_ONLY
                case 0x22, 0x8000_0022: [(8, 12), (16, 20), (24, 28), (32, 36), (40, 44)]
                // The commands of the form linkedit_data_command.
                case 0x1D, 0x1E, 0x26, 0x29, 0x2B, 0x2E, 0x36...0x38, 0x8000_0033, 0x8000_0034: [(8, 12)]
                // LC_MAIN: where the code begins to run, which is content wherever it is.
                case 0x8000_0028: [(8, 8)]
                default: []
                }
            for (place, amount) in pairs {
                guard let offset = try? body.integer(at: place, as: UInt32.self, .little),
                    let size = try? body.integer(at: amount, as: UInt32.self, .little)
                else { return }
                if offset > 0, size > 0 { takeContent(at: Int(offset)) }
            }
        }

        private mutating func takeSignature(_ body: ByteReader, in count: Int) throws {
            guard codeSignature == nil else {
                throw MachOError.malformed("there are two LC_CODE_SIGNATURE commands.")
            }
            let offset = Int(try body.integer(at: 8, as: UInt32.self, .little))
            let size = Int(try body.integer(at: 12, as: UInt32.self, .little))
            guard offset <= count, size <= count - offset else {
                throw MachOError.malformed(
                    "the code signature needs \(size) bytes at offset 0x\(String(offset, radix: 16)), "
                        + "but the file has only \(max(0, count - offset)) left."
                )
            }
            codeSignature = Region(offset: offset, size: size)
        }

        /// `LC_VERSION_MIN_…`, which came before `LC_BUILD_VERSION` and yields to it.
        private mutating func takeOldMinimum(_ number: UInt32, _ body: ByteReader) throws {
            guard platform == nil else { return }
            let platforms: [UInt32: UInt32] = [0x24: 1, 0x25: 2, 0x2F: 3, 0x30: 4]
            platform = platforms[number]
            minimumOS = try body.integer(at: 8, .little)
        }

        private static func segment(
            _ command: LoadCommand,
            _ body: ByteReader,
            in count: Int,
            wide: Bool
        ) throws -> Segment {
            let name = String(decoding: try body.bytes(at: 8, count: 16).prefix { $0 != 0 }, as: UTF8.self)
            func word(_ index: Int) throws -> UInt64 {
                wide
                    ? try body.integer(at: 24 + index * 8, .little)
                    : UInt64(try body.integer(at: 24 + index * 4, as: UInt32.self, .little))
            }
            let (address, memory, offset, size) = (try word(0), try word(1), try word(2), try word(3))
            guard let fileOffset = Int(exactly: offset), let fileSize = Int(exactly: size),
                fileOffset <= count, fileSize <= count - fileOffset
            else {
                throw MachOError.malformed(
                    "segment \(name) claims \(size) bytes at offset \(offset), but the file has only \(count)."
                )
            }
            return Segment(
                name: name,
                commandOffset: command.offset,
                memoryAddress: address,
                memorySize: memory,
                fileOffset: fileOffset,
                fileSize: fileSize,
                firstSectionOffset: try firstSection(body, name, wide: wide)
            )
        }

        private static func firstSection(_ body: ByteReader, _ name: String, wide: Bool) throws -> Int? {
            let (first, stride) = wide ? (72, 80) : (56, 68)
            let number = Int(try body.integer(at: wide ? 64 : 48, as: UInt32.self, .little))
            guard number <= (body.count - first) / stride else {
                throw MachOError.malformed("segment \(name) claims \(number) sections, more than its command holds.")
            }
            var smallest: Int?
            for index in 0..<number {
                let place = first + index * stride
                let offset = Int(try body.integer(at: place + (wide ? 48 : 40), as: UInt32.self, .little))
                let size =
                    wide
                    ? try body.integer(at: place + 40, as: UInt64.self, .little)
                    : UInt64(try body.integer(at: place + 36, as: UInt32.self, .little))
                // S_ZEROFILL, S_GB_ZEROFILL and S_THREAD_LOCAL_ZEROFILL have no bytes in the file, whatever offset they have.
                let type = try body.integer(at: place + (wide ? 64 : 56), as: UInt32.self, .little) & 0xFF
                if offset > 0, size > 0, type != 0x01, type != 0x0C, type != 0x12 {
                    smallest = min(smallest ?? offset, offset)
                }
            }
            return smallest
        }
    }
}
