import FerryBytes

/// Where the slices of a universal file lie after their sizes changed.
public struct FatLayout: Sendable, Equatable {
    /// The universal header; the first slice begins later, after zeros.
    public let header: [UInt8]
    /// Where each slice begins, in the order of the header.
    public let offsets: [Int]
    /// The length of the whole file.
    public let fileSize: Int
}

extension MachOFile {
    /// Lays a universal file out anew for slices of the given sizes, each at its own alignment.
    ///
    /// - Parameter sizes: a size for each slice, in the order of the header.
    public func fatLayout(sizes: [Int]) throws(MachOError) -> FatLayout {
        precondition(isFat && sizes.count == slices.count, "one size for each slice of a universal file")
        var header: [UInt8] = []
        header.append(isFat64 ? Self.fatMagic64 : Self.fatMagic, .big)
        header.append(UInt32(slices.count), .big)
        var offsets: [Int] = []
        var end = 8 + slices.count * (isFat64 ? 32 : 20)
        for (slice, size) in zip(slices, sizes) {
            guard let offset = roundedUp(end, to: 1 << slice.alignment), let offset32 = UInt32(exactly: offset),
                let size32 = UInt32(exactly: size)
            else {
                throw MachOError(.unsupported, "the universal file would grow past 4 GiB.")
            }
            header.append(slice.image.cpuType, .big)
            header.append(slice.image.rawCPUSubtype, .big)
            if isFat64 {
                header.append(UInt64(offset), .big)
                header.append(UInt64(size), .big)
                header.append(UInt32(slice.alignment), .big)
                header.append(UInt32(0), .big)
            } else {
                header.append(offset32, .big)
                header.append(size32, .big)
                header.append(UInt32(slice.alignment), .big)
            }
            offsets.append(offset)
            end = offset + size
        }
        return FatLayout(header: header, offsets: offsets, fileSize: end)
    }
}
