/// An extended regular expression (POSIX 1003.2) over the bytes of a path, as seals have them in their rules.
///
/// Apple's tools hand the rules to `regcomp(REG_EXTENDED)`. A seal comes from outside, so its rules are matched here in
/// steps that grow with the product of path and pattern and no faster, whatever the pattern is: all its possible states
/// are kept at once (K. Thompson, “Regular Expression Search Algorithm”, 1968).
struct PathPattern: Sendable {
    /// The most bytes that a pattern may have.
    static let patternLimit = 512
    /// The most steps that a pattern may be translated to; repetitions multiply them, also those of nothing.
    static let stepLimit = 4096

    /// Why a pattern is none.
    struct Malformed: Error {}

    private enum Step: Sendable {
        /// A byte of a set, then the next step.
        case byte(ByteSet)
        /// Both ways.
        case fork(Int, Int)
        case jump(Int)
        case start
        case end
        case found
    }

    /// Which of the 256 bytes are in it.
    private struct ByteSet: Sendable {
        private var words = SIMD4<UInt64>()

        static let all = {
            var set = ByteSet()
            set.words = SIMD4(repeating: .max)
            return set
        }()

        init() {}

        init(_ bytes: some Sequence<UInt8>) {
            for byte in bytes { insert(byte) }
        }

        mutating func insert(_ byte: UInt8) {
            words[Int(byte >> 6)] |= 1 << UInt64(byte & 63)
        }

        func contains(_ byte: UInt8) -> Bool {
            words[Int(byte >> 6)] >> UInt64(byte & 63) & 1 == 1
        }

        mutating func invert() {
            words = ~words
        }
    }

    private indirect enum Node {
        case nothing
        case byte(ByteSet)
        case start
        case end
        case sequence([Node])
        case choice([Node])
        case `repeat`(Node, Int, Int?)
    }

    private let steps: [Step]

    /// How many steps it takes at most for each byte of a path.
    var stepCount: Int { steps.count }

    /// Translates a pattern; throws ``Malformed``.
    init(_ text: String) throws {
        guard text.utf8.count <= Self.patternLimit else { throw Malformed() }
        var parser = Parser(bytes: Array(text.utf8))
        let node = try parser.choice(depth: 0)
        guard parser.isAtEnd else { throw Malformed() }
        var steps: [Step] = []
        var work = 0
        try Self.translate(node, to: &steps, &work)
        steps.append(.found)
        self.steps = steps
    }

    /// Whether the pattern occurs in `path`.
    func occurs(in path: [UInt8]) -> Bool {
        var current = States(count: steps.count)
        var next = States(count: steps.count)
        for place in 0...path.count {
            // It may begin at any place.
            if enter(0, at: place, of: path.count, &current) { return true }
            guard place < path.count else { break }
            for index in current.list {
                guard case .byte(let set) = steps[index], set.contains(path[place]) else { continue }
                if enter(index + 1, at: place + 1, of: path.count, &next) { return true }
            }
            swap(&current, &next)
            next.clear()
        }
        return false
    }

    /// The steps that are being waited at, each once.
    private struct States {
        private(set) var list: [Int] = []
        private var isIn: [Bool]

        init(count: Int) {
            isIn = [Bool](repeating: false, count: count)
        }

        mutating func insert(_ index: Int) -> Bool {
            guard !isIn[index] else { return false }
            isIn[index] = true
            list.append(index)
            return true
        }

        mutating func clear() {
            for index in list { isIn[index] = false }
            list.removeAll(keepingCapacity: true)
        }
    }

    /// Goes on from a step without taking a byte; says whether that leads to the end of the pattern.
    private func enter(_ first: Int, at place: Int, of count: Int, _ states: inout States) -> Bool {
        var waiting = [first]
        while let index = waiting.popLast() {
            guard states.insert(index) else { continue }
            switch steps[index] {
            case .byte: break
            case .fork(let one, let other): waiting += [other, one]
            case .jump(let target): waiting.append(target)
            case .start: if place == 0 { waiting.append(index + 1) }
            case .end: if place == count { waiting.append(index + 1) }
            case .found: return true
            }
        }
        return false
    }

    private static func translate(_ node: Node, to steps: inout [Step], _ work: inout Int) throws {
        work += 1
        guard steps.count < stepLimit, work < 2 * stepLimit else { throw Malformed() }
        switch node {
        case .nothing: break
        case .byte(let set): steps.append(.byte(set))
        case .start: steps.append(.start)
        case .end: steps.append(.end)
        case .sequence(let nodes):
            for node in nodes { try translate(node, to: &steps, &work) }
        case .choice(let nodes):
            var exits: [Int] = []
            for (index, node) in nodes.enumerated() {
                guard index < nodes.count - 1 else {
                    try translate(node, to: &steps, &work)
                    break
                }
                let fork = steps.count
                steps.append(.found)
                try translate(node, to: &steps, &work)
                exits.append(steps.count)
                steps.append(.found)
                steps[fork] = .fork(fork + 1, steps.count)
            }
            for exit in exits { steps[exit] = .jump(steps.count) }
        case .repeat(let node, let least, let most):
            for _ in 0..<least { try translate(node, to: &steps, &work) }
            guard let most else {
                let fork = steps.count
                steps.append(.found)
                try translate(node, to: &steps, &work)
                steps.append(.jump(fork))
                steps[fork] = .fork(fork + 1, steps.count)
                return
            }
            var forks: [Int] = []
            for _ in least..<most {
                forks.append(steps.count)
                steps.append(.found)
                try translate(node, to: &steps, &work)
                guard steps.count < stepLimit else { throw Malformed() }
            }
            for fork in forks { steps[fork] = .fork(fork + 1, steps.count) }
        }
    }
}

extension PathPattern {
    /// Reads a pattern, from the loosest binding to the tightest.
    private struct Parser {
        let bytes: [UInt8]
        private var place = 0

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        var isAtEnd: Bool { place == bytes.count }
        private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

        private mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard next == UInt8(ascii: character) else { return false }
            place += 1
            return true
        }

        mutating func choice(depth: Int) throws -> Node {
            guard depth < 32 else { throw Malformed() }
            var nodes = [try sequence(depth)]
            while take("|") { nodes.append(try sequence(depth)) }
            return nodes.count == 1 ? nodes[0] : .choice(nodes)
        }

        private mutating func sequence(_ depth: Int) throws -> Node {
            var nodes: [Node] = []
            while let next, next != UInt8(ascii: "|"), next != UInt8(ascii: ")") {
                nodes.append(try repetition(depth))
            }
            return .sequence(nodes)
        }

        private mutating func repetition(_ depth: Int) throws -> Node {
            var node = try atom(depth)
            while true {
                if take("*") {
                    node = .repeat(node, 0, nil)
                } else if take("+") {
                    node = .repeat(node, 1, nil)
                } else if take("?") {
                    node = .repeat(node, 0, 1)
                } else if take("{") {
                    let least = try number()
                    let most = take(",") ? (next == UInt8(ascii: "}") ? nil : try number()) : least
                    guard take("}"), most.map({ $0 >= least }) ?? true else { throw Malformed() }
                    node = .repeat(node, least, most)
                } else {
                    return node
                }
            }
        }

        private mutating func number() throws -> Int {
            var value: Int?
            while let digit = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) {
                value = (value ?? 0) * 10 + Int(digit - UInt8(ascii: "0"))
                // `RE_DUP_MAX`
                guard let value, value <= 255 else { throw Malformed() }
                place += 1
            }
            guard let value else { throw Malformed() }
            return value
        }

        private mutating func atom(_ depth: Int) throws -> Node {
            guard let byte = next else { throw Malformed() }
            place += 1
            switch byte {
            case UInt8(ascii: "."): return .byte(.all)
            case UInt8(ascii: "^"): return .start
            case UInt8(ascii: "$"): return .end
            case UInt8(ascii: "["): return .byte(try bracket())
            case UInt8(ascii: "("):
                let node = try choice(depth: depth + 1)
                guard take(")") else { throw Malformed() }
                return node
            case UInt8(ascii: #"\"#):
                guard let escaped = next else { throw Malformed() }
                // Letters and digits behind a backslash mean other things in other dialects.
                guard !Self.isLetterOrDigit(escaped) else { throw Malformed() }
                place += 1
                return .byte(ByteSet([escaped]))
            case UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "?"): throw Malformed()
            default: return .byte(ByteSet([byte]))
            }
        }

        private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
            byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
        }

        /// What follows a `[`, its end included.
        private mutating func bracket() throws -> ByteSet {
            let isInverted = take("^")
            var set = ByteSet()
            var isFirst = true
            while true {
                guard let byte = next else { throw Malformed() }
                place += 1
                if byte == UInt8(ascii: "]"), !isFirst { break }
                isFirst = false
                if byte == UInt8(ascii: "["), take(":") {
                    for byte in try named() { set.insert(byte) }
                    continue
                }
                // A `-` before the end is one.
                guard next == UInt8(ascii: "-"), place + 1 < bytes.count, bytes[place + 1] != UInt8(ascii: "]") else {
                    set.insert(byte)
                    continue
                }
                let last = bytes[place + 1]
                guard last >= byte else { throw Malformed() }
                place += 2
                for byte in byte...last { set.insert(byte) }
            }
            if isInverted { set.invert() }
            return set
        }

        /// The bytes of a class, after its `[:`.
        private mutating func named() throws -> [UInt8] {
            let rest = bytes[place...]
            guard let end = rest.firstIndex(of: UInt8(ascii: ":")), end + 1 < bytes.count,
                bytes[end + 1] == UInt8(ascii: "]")
            else { throw Malformed() }
            let name = String(decoding: rest[..<end], as: UTF8.self)
            place = end + 2
            let (upper, lower) = (
                Array(UInt8(ascii: "A")...UInt8(ascii: "Z")), Array(UInt8(ascii: "a")...UInt8(ascii: "z"))
            )
            let digits = Array(UInt8(ascii: "0")...UInt8(ascii: "9"))
            switch name {
            case "alpha": return upper + lower
            case "upper": return upper
            case "lower": return lower
            case "digit": return digits
            case "alnum": return upper + lower + digits
            case "space": return [9, 10, 11, 12, 13, 32]
            case "punct": return (33...126).filter { !(upper + lower + digits).contains($0) }
            default: throw Malformed()
            }
        }
    }
}
