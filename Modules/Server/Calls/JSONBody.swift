import FerryBytes
import FerryHTTP
import FerryPropertyList

/// What a call was sent along as a JSON object.
struct JSONBody: Sendable {
    private let dictionary: PropertyList.Dictionary

    /// Reads the body; nothing at all is an empty object.
    init(_ request: Request) async throws {
        let bytes = try await request.body.bytes()
        guard !bytes.isEmpty else {
            dictionary = PropertyList.Dictionary()
            return
        }
        let type = request.headers["Content-Type"] ?? ""
        guard String(type.prefix { $0 != ";" && $0 != " " }).isSameToken(as: "application/json") else {
            throw Problem(415, "The body is no application/json.", remedy: "Send “Content-Type: application/json”.")
        }
        let value: PropertyList
        do {
            value = try PropertyList.parse(
                json: bytes,
                limits: PropertyList.Limits(
                    maximumByteCount: bytes.count,
                    maximumDepth: 16,
                    maximumValueCount: 10_000
                )
            )
        } catch {
            throw Problem(400, "The body is no JSON: \(error.message)", remedy: error.remedy)
        }
        guard let object = value.dictionary else {
            throw Problem(400, "The body is \(value.kindName), not an object.")
        }
        dictionary = object
    }

    /// The text of a key; `nil` where it is missing. Throws where it is something else, empty, or too long.
    func text(_ key: String, limit: Int = 4_096) throws(Problem) -> String? {
        guard let value = dictionary[key] else { return nil }
        guard let text = value.string else { throw Problem(400, "“\(key)” is \(value.kindName), not a string.") }
        guard !text.isEmpty, text.utf8.count <= limit, !text.utf8.contains(0) else {
            throw Problem(400, "“\(key)” is empty, has a zero in it, or more than \(limit) bytes.")
        }
        return text
    }

    /// The same, which must be there.
    func required(_ key: String) throws(Problem) -> String {
        guard let text = try text(key) else { throw Problem(400, "“\(key)” is missing.") }
        return text
    }

    /// The truth of a key; `false` where it is missing.
    func flag(_ key: String) throws(Problem) -> Bool {
        guard let value = dictionary[key] else { return false }
        guard let flag = value.bool else { throw Problem(400, "“\(key)” is \(value.kindName), not true or false.") }
        return flag
    }

    /// The number of a key; `nil` where it is missing.
    func number(_ key: String, in range: ClosedRange<Int64>) throws(Problem) -> Int64? {
        guard let value = dictionary[key] else { return nil }
        guard let number = value.integer, range.contains(number) else {
            throw Problem(400, "“\(key)” is no whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// Whether the key is there.
    func has(_ key: String) -> Bool { dictionary[key] != nil }
}
