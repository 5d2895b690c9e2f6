import FerryBytes

extension DeflateSplice {
    /// All of it as bytes, for ``init(saved:entry:)``.
    public var saved: [UInt8] {
        var bytes: [UInt8] = []
        for number in [
            middle.lowerBound, middle.upperBound, seam.uncompressedOffset, seam.compressedBit, cut, level, head.count,
            dictionary.count, rest.count,
        ] {
            bytes.append(UInt64(number), .little)
        }
        bytes.append(crcBeforeSeam, .little)
        bytes.append(crcSoFar, .little)
        bytes.append(seam.sharedByte)
        return bytes + head + dictionary + rest
    }

    /// Takes one up again; `nil` for bytes that cannot be one of `entry`.
    ///
    /// That they fit the entry's packed bytes is not checked.
    public init?(saved: ArraySlice<UInt8>, entry: ZipEntry) {
        var reader = ByteReader(saved)
        do throws(OutOfBounds) {
            var numbers: [Int] = []
            while numbers.count < 9 { numbers.append(Int(truncatingIfNeeded: try reader.next(UInt64.self, .little))) }
            let (crcBeforeSeam, crcSoFar) = (
                try reader.next(UInt32.self, .little), try reader.next(UInt32.self, .little)
            )
            let sharedByte = try reader.next(UInt8.self, .little)
            let counts = numbers[6...]
            guard counts.allSatisfy({ $0 >= 0 && $0 <= saved.count }), counts.reduce(reader.offset, +) == saved.count,
                0...12 ~= numbers[5], numbers[2] > 0, numbers[2] <= numbers[4], numbers[4] <= entry.uncompressedSize,
                numbers[8] == numbers[4] - numbers[2], numbers[7] == min(numbers[2], Self.windowBytes),
                entry.dataOffset <= numbers[0], numbers[0] < numbers[1], numbers[1] <= entry.dataRange.upperBound,
                numbers[3] >= 0, numbers[3] >> 3 == numbers[1] - entry.dataOffset
            else { return nil }
            self.init(
                head: Array(try reader.next(numbers[6])),
                middle: numbers[0]..<numbers[1],
                seam: BlockBoundary(uncompressedOffset: numbers[2], compressedBit: numbers[3], sharedByte: sharedByte),
                dictionary: Array(try reader.next(numbers[7])),
                rest: Array(try reader.next(numbers[8])),
                crcBeforeSeam: crcBeforeSeam,
                crcSoFar: crcSoFar,
                cut: numbers[4],
                level: numbers[5]
            )
        } catch {
            return nil
        }
    }
}
