import FerryBytes

/// A Mach-O file: one image, or a universal ("fat") file of several.
///
/// The universal header is big-endian: `fat_header { magic, nfat_arch }`, then for each slice `fat_arch { cputype,
/// cpusubtype, offset, size, align }`, 32 bits each, or with magic `0xcafebabf` offset and size of 64 bits and a
/// reserved word. Source: `<mach-o/fat.h>`.
public struct MachOFile: Sendable {
    /// One image and where it lies in the file.
    public struct Slice: Sendable {
        /// Where the image begins.
        public let offset: Int
        /// The alignment that the universal header asks for, as a power of two; zero in a thin file.
        public let alignment: Int
        /// The image itself.
        public let image: MachOImage
    }

    /// The most slices that a universal header may name: Java class files, which share the magic number,
    /// would have 45 or more.
    public static let sliceLimit = 19

    /// The slices in the order of the header; exactly one in a thin file.
    public let slices: [Slice]
    /// Whether there is a universal header.
    public let isFat: Bool
    /// Whether the universal header has 64-bit offsets.
    public let isFat64: Bool

    /// Whether a file that begins with `prefix` (eight bytes suffice) claims to be a Mach-O.
    public static func claims(_ prefix: some Collection<UInt8>) -> Bool {
        let head = Array(prefix.prefix(8))
        guard head.count == 8 else { return false }
        let reader = ByteReader(head)
        guard let magic = try? reader.integer(at: 0, as: UInt32.self, .big),
            let count = try? reader.integer(at: 4, as: UInt32.self, .big)
        else { return false }
        switch magic {
        case MachOImage.magic32, MachOImage.magic64, MachOImage.magic32.byteSwapped, MachOImage.magic64.byteSwapped:
            return true
        case fatMagic, fatMagic64:
            return count > 0 && count <= UInt32(sliceLimit)
        default:
            return false
        }
    }

    static let fatMagic: UInt32 = 0xCAFE_BABE
    static let fatMagic64: UInt32 = 0xCAFE_BABF

    /// Parses the headers of `bytes`, the whole file.
    public init(_ bytes: ArraySlice<UInt8>) throws(MachOError) {
        let reader = ByteReader(bytes)
        guard let magic = try? reader.integer(at: 0, as: UInt32.self, .big) else {
            throw MachOError(.notMachO, "the file has only \(bytes.count) bytes, too few for a Mach-O.")
        }
        guard magic == Self.fatMagic || magic == Self.fatMagic64 else {
            slices = [Slice(offset: 0, alignment: 0, image: try MachOImage(bytes))]
            isFat = false
            isFat64 = false
            return
        }
        isFat = true
        isFat64 = magic == Self.fatMagic64
        do {
            slices = try Self.readSlices(reader, wide: isFat64)
        } catch let error as MachOError {
            throw error
        } catch {
            throw .malformed("the universal header is cut short: \(error).")
        }
    }

    /// Parses the headers of `bytes`, the whole file.
    public init(_ bytes: [UInt8]) throws(MachOError) {
        try self.init(bytes[...])
    }

    private static func readSlices(_ reader: ByteReader, wide: Bool) throws -> [Slice] {
        let count = Int(try reader.integer(at: 4, as: UInt32.self, .big))
        guard count > 0, count <= sliceLimit else {
            throw MachOError(
                .notMachO,
                "the universal header names \(count) slices; at most \(sliceLimit) are believed."
            )
        }
        var slices: [Slice] = []
        var end = 8 + count * (wide ? 32 : 20)
        for index in 0..<count {
            let place = 8 + index * (wide ? 32 : 20)
            let (offset, size, alignment): (UInt64, UInt64, UInt32)
            if wide {
                offset = try reader.integer(at: place + 8, .big)
                size = try reader.integer(at: place + 16, .big)
                alignment = try reader.integer(at: place + 24, .big)
            } else {
                offset = UInt64(try reader.integer(at: place + 8, as: UInt32.self, .big))
                size = UInt64(try reader.integer(at: place + 12, as: UInt32.self, .big))
                alignment = try reader.integer(at: place + 16, .big)
            }
            guard let start = Int(exactly: offset), let length = Int(exactly: size),
                start >= end, start <= reader.count, length <= reader.count - start
            else {
                throw MachOError.malformed(
                    "slice \(index + 1) of \(count) claims \(size) bytes at offset \(offset), outside the file's "
                        + "\(reader.count) bytes or over the slice before it."
                )
            }
            guard alignment <= 20 else {
                throw MachOError.malformed("slice \(index + 1) of \(count) asks for an alignment of 2^\(alignment).")
            }
            do {
                let image = try MachOImage(try reader.bytes(at: start, count: length))
                guard image.cpuType == (try reader.integer(at: place, as: UInt32.self, .big)) else {
                    throw MachOError.malformed("the universal header and the image name different processors.")
                }
                slices.append(Slice(offset: start, alignment: Int(alignment), image: image))
            } catch let error as MachOError {
                throw error.inside("slice \(index + 1) of \(count)")
            }
            end = start + length
        }
        return slices
    }
}
