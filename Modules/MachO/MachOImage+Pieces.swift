import FerryBytes

extension MachOImage {
    /// What the load commands say, gathered one by one.
    struct Pieces {
        var segments: [Segment] = []
        var codeSignature: Region?
        var isEncrypted = false
        var platform: UInt32?
        var minimumOS: UInt32?
        var dylibs: [(command: UInt32, name: String)] = []
        var installName: String?
        var uuid: [UInt8]?

        mutating func take(_ command: LoadCommand, from reader: ByteReader, imageSize: Int) throws {
            let body = ByteReader(try reader.bytes(at: command.offset, count: command.size))
            switch command.number {
            case 0x01: segments.append(try Self.segment(command, body, in: imageSize, wide: false))
            case 0x19: segments.append(try Self.segment(command, body, in: imageSize, wide: true))
            case MachOImage.codeSignatureCommand: try takeSignature(body, in: imageSize)
            case 0x21, 0x2C: isEncrypted = try body.integer(at: 16, as: UInt32.self, .little) != 0
            case 0x32:
                platform = try body.integer(at: 8, .little)
                minimumOS = try body.integer(at: 12, .little)
            case 0x24, 0x25, 0x2F, 0x30: try takeOldMinimum(command.number, body)
            case 0x1B: uuid = Array(try body.bytes(at: 8, count: 16))
            case 0x0D: installName = try Self.name(body)
            // LC_LOAD_DYLIB, and its weak, re-exported, lazy and upward forms.
            case 0x0C, 0x8000_0018, 0x8000_001F, 0x20, 0x8000_0023: dylibs.append((command.number, try Self.name(body)))
            default: break
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

        private static func name(_ body: ByteReader) throws -> String {
            let offset = Int(try body.integer(at: 8, as: UInt32.self, .little))
            guard offset >= 12, offset <= body.count else {
                throw MachOError.malformed("a library's name lies outside its load command.")
            }
            let rest = try body.bytes(at: offset, count: body.count - offset)
            return String(decoding: rest.prefix { $0 != 0 }, as: UTF8.self)
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
                // Zero-filled sections have no bytes in the file, and an offset of zero.
                if offset > 0, size > 0 {
                    smallest = min(smallest ?? offset, offset)
                }
            }
            return smallest
        }
    }
}
