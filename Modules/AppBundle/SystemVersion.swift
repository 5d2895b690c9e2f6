/// A version of a system: `17.5.1`.
public struct SystemVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The first number.
    public let major: Int
    /// The second number; 0 where it is not written.
    public let minor: Int
    /// The third number; 0 where it is not written.
    public let patch: Int

    /// Reads one, two or three numbers with dots between; `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count) else { return nil }
        var numbers = [0, 0, 0]
        for (index, part) in parts.enumerated() {
            guard (1...4).contains(part.count),
                part.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let number = Int(String(decoding: part, as: UTF8.self))
            else { return nil }
            numbers[index] = number
        }
        (major, minor, patch) = (numbers[0], numbers[1], numbers[2])
    }

    /// As a Mach-O has it: `major << 16 | minor << 8 | patch`.
    public init(packed: UInt32) {
        (major, minor, patch) = (Int(packed >> 16), Int(packed >> 8 & 0xFF), Int(packed & 0xFF))
    }

    /// Whether the one comes before the other.
    public static func < (one: SystemVersion, other: SystemVersion) -> Bool {
        (one.major, one.minor, one.patch) < (other.major, other.minor, other.patch)
    }

    /// Two numbers, and the third where it is not 0.
    public var description: String { "\(major).\(minor)" + (patch == 0 ? "" : ".\(patch)") }
}
