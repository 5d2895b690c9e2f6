import FerryBytes

/// A Mach-O file for devices, written from nothing: real load commands, real instructions, made-up content.
///
/// Everything that follows from the parameters is the same each time. The file is laid out as Apple's linker does:
/// header, load commands, room for more, `__text`, `__const`, then `__LINKEDIT`, with the signature last in it.
package struct SampleMachO: Sendable {
    /// What the file is.
    package enum Kind: Sendable, Hashable, CaseIterable {
        /// `MH_EXECUTE`.
        case executable
        /// `MH_DYLIB`.
        case dylib
        /// `MH_BUNDLE`.
        case bundle
    }

    /// What it runs on.
    package enum Architecture: Sendable, Hashable, CaseIterable {
        /// 64 bit, pages of 16 KiB.
        case arm64
        /// 64 bit with pointer authentication, pages of 16 KiB.
        case arm64e
        /// 32 bit, pages of 4 KiB.
        case armv7
    }

    /// What the file is.
    package var kind = Kind.executable
    /// What it runs on.
    package var architecture = Architecture.arm64
    /// The name that others load a dylib by.
    package var installName = "@rpath/libSample.dylib"
    /// The function that a dylib or bundle exports, beside an executable's `_main`.
    package var exportedFunction = "_sample_answer"
    /// Libraries to load, after libSystem.
    package var libraries: [String] = []
    /// Where libraries are searched (`LC_RPATH`).
    package var runPaths = ["@executable_path/Frameworks"]
    /// `PLATFORM_…` of `LC_BUILD_VERSION`; 2 is iOS.
    package var platform: UInt32 = 2
    /// The oldest system that it runs on, as `X.Y.Z`.
    package var minimumOS = "15.0"
    /// Whether the platform is told as before 2018, by `LC_VERSION_MIN_IPHONEOS` (or tvOS' or watchOS').
    package var usesOldVersionCommand = false
    /// How many bytes of content `__const` has, which deflate to about two fifths.
    package var payloadBytes = 48 << 10
    /// How many bytes are free for further load commands, a multiple of four; 0 for a header that is full.
    package var headerPadding = 4096
    /// How many zeros are left for a signature, 16-aligned; `nil` for a file that never had one.
    package var signatureRoom: Int?
    /// What `LC_ENCRYPTION_INFO` says, of which 0 is "no longer"; `nil` for a file without it.
    package var cryptID: UInt32?
    /// What content and UUID are made from.
    package var seed: UInt64 = 1

    /// The defaults: an unsigned executable for iOS 15 on arm64.
    package init(kind: Kind = .executable, seed: UInt64 = 1) {
        self.kind = kind
        self.seed = seed
    }

    /// The file.
    package func bytes() -> [UInt8] {
        SampleImage(self).bytes()
    }

    /// About the room that Apple's signer leaves for two code directories and a message over `count` bytes.
    package static func usualSignatureRoom(for count: Int) -> Int {
        ((count / 4096 + 1) * 52 + 20000 + 15) / 16 * 16
    }

    /// A version as `X.Y.Z` in nibbles: `xxxx.yy.zz`.
    static func version(_ text: String) -> UInt32 {
        let numbers = text.split(separator: ".").map { UInt32($0) ?? 0 } + [0, 0, 0]
        return min(numbers[0], 0xFFFF) << 16 | min(numbers[1], 0xFF) << 8 | min(numbers[2], 0xFF)
    }

    /// Wraps whole images for several architectures into one file, in this order.
    ///
    /// - Parameter alignment: every image begins at a multiple of 2 to this power.
    package static func fat(_ slices: [[UInt8]], alignment: Int = 14) -> [UInt8] {
        var offset = 8 + slices.count * 20
        var header: [UInt8] = []
        header.append(UInt32(0xCAFE_BABE), .big)
        header.append(UInt32(slices.count), .big)
        var content: [UInt8] = []
        for slice in slices {
            let start = (offset + (1 << alignment) - 1) & ~((1 << alignment) - 1)
            content.append(contentsOf: repeatElement(0, count: start - offset))
            content += slice
            // A thin image has its processor in words 1 and 2, in little-endian order.
            for place in [4, 8] {
                header += slice[place..<place + 4].reversed()
            }
            header.append(UInt32(start), .big)
            header.append(UInt32(slice.count), .big)
            header.append(UInt32(alignment), .big)
            offset = start + slice.count
        }
        return header + content
    }
}
