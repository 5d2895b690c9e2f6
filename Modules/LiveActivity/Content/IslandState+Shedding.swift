#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What was left out of a state so that it fits.
public struct Shedding: Sendable, Hashable {
    /// Whether the icon went.
    public var icon = false
    /// How many installs went from the list; they are counted as hidden.
    public var items = 0
    /// How many names were cut or went.
    public var names = 0

    /// Nothing was left out.
    public init() {}

    /// Whether nothing was left out.
    public var isEmpty: Bool { self == Shedding() }
}

extension Shedding: CustomStringConvertible {
    /// `the icon, 3 items, 1 name`; `nothing`.
    public var description: String {
        var parts: [String] = []
        if icon { parts.append("the icon") }
        if items > 0 { parts.append(items == 1 ? "1 item" : "\(items) items") }
        if names > 0 { parts.append(names == 1 ? "1 name" : "\(names) names") }
        return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }
}

extension IslandState {
    /// The JSON as it is sent and measured: compact, keys in order, slashes as they are.
    public func encoded() throws(IslandStateError) -> [UInt8] { try CompactJSON.encode(self) }

    /// The state as an update inside the app may carry it: state and attributes together have 4 KB.
    ///
    /// Sheds as a push does, with 512 bytes left for the attributes.
    public func fitted(within limit: Int = 3_584) throws(IslandStateError) -> (state: IslandState, shed: Shedding) {
        try fitted(within: limit) { state throws(IslandStateError) in try state.encoded().count }
    }

    /// Sheds until `size` is at most `limit`: the icon; the installs after the first, the last ones first; as much of
    /// the first one's name as must be; that install too. The same input gives the same output.
    func fitted(
        within limit: Int,
        size: (IslandState) throws(IslandStateError) -> Int
    ) throws(IslandStateError) -> (state: IslandState, shed: Shedding) {
        var state = self
        var shed = Shedding()
        if try size(state) <= limit { return (state, shed) }
        if state.icon != nil {
            state.icon = nil
            shed.icon = true
            if try size(state) <= limit { return (state, shed) }
        }
        while state.items.count > 1 {
            state.dropLastItem()
            shed.items += 1
            if try size(state) <= limit { return (state, shed) }
        }
        if let name = state.items.first?.title, !name.isEmpty {
            shed.names = 1
            // The longest beginning that fits: sizes grow with it.
            var fits = 0
            var fails = name.utf8.count
            while fits + 1 < fails {
                let middle = (fits + fails) / 2
                state.items[0].title = name.cut(toLetters: .max, bytes: middle)
                if try size(state) <= limit { fits = middle } else { fails = middle }
            }
            state.items[0].title = name.cut(toLetters: .max, bytes: fits)
            if try size(state) <= limit { return (state, shed) }
        }
        if !state.items.isEmpty {
            state.dropLastItem()
            shed.items += 1
            shed.names = 0
        }
        let least = try size(state)
        guard least <= limit else { throw IslandStateError.tooLarge(least, limit: limit) }
        return (state, shed)
    }

    private mutating func dropLastItem() {
        items.removeLast()
        hiddenCount = min(hiddenCount + 1, Self.maximumCount)
    }
}

/// The one way in which this module writes JSON.
enum CompactJSON {
    static func encode(_ value: some Encodable) throws(IslandStateError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return [UInt8](try encoder.encode(value))
        } catch {
            // Our values hold no number that JSON lacks, so this is the encoder's own fault.
            throw IslandStateError(.notEncoded, "The state cannot be written as JSON: \(error).", remedy: nil)
        }
    }
}
