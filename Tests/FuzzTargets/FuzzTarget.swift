/// One reader of foreign bytes, in the form that a fuzzer calls.
public struct FuzzTarget: Sendable {
    /// What it is called by, in `Scripts/fuzz` and as the folder of its inputs.
    public let name: String
    /// The longest input in bytes that a fuzzer should make.
    public let maximumBytes: Int
    /// Hands the bytes to the reader, in each of its modes.
    ///
    /// What the reader refuses is in order. Throws ``FuzzFinding`` where it takes something and contradicts itself; traps
    /// where it traps.
    public let run: @Sendable ([UInt8]) throws -> Void

    init(_ name: String, maximumBytes: Int = 8192, _ run: @escaping @Sendable ([UInt8]) throws -> Void) {
        self.name = name
        self.maximumBytes = maximumBytes
        self.run = run
    }

    /// Every target.
    public static let all = formats + signatures + code + others
}

/// A reader contradicts itself: what it took does not hold.
public struct FuzzFinding: Error, CustomStringConvertible {
    /// A sentence.
    public let description: String
}

/// Throws a ``FuzzFinding`` that says `claim`, unless that is so.
func expect(_ isSo: @autoclosure () throws -> Bool, _ claim: String) throws {
    guard try isSo() else { throw FuzzFinding(description: "It does not hold that \(claim).") }
}

/// Runs a reader whose refusal is in order; a finding goes on.
func tolerate(_ body: () throws -> Void) throws {
    do {
        try body()
    } catch let finding as FuzzFinding {
        throw finding
    } catch {}
}
