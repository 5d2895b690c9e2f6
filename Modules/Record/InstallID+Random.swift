public import FerryActivity

extension InstallID {
    /// The letters of random ids: none that is easily taken for another (Crockford's Base32, in lower case).
    static let letters = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    /// How many letters a random id has: 60 bits.
    static let length = 12

    /// A new name that nobody can guess, from the system's random numbers.
    public static func random() -> InstallID {
        var number = UInt64.random(in: 0...UInt64.max)
        let text = (0..<length).map { _ in
            defer { number >>= 5 }
            return letters[Int(number & 31)]
        }
        return InstallID(String(decoding: text, as: UTF8.self))
    }
}
