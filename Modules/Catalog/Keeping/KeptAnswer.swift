import FerryBytes
import FerryPropertyList

/// A source as a server sent it, with what a later request asks by: one file, so that the parts always belong together.
///
/// A line of JSON, then the body. The file says nothing of the address, which may hold a token.
struct KeptAnswer: Equatable {
    /// What the server called this state (RFC 9110 §8.8.3), as it came, with quotes.
    var etag: String?
    /// When the server changed it last, as it came.
    var lastModified: String?
    /// When it was last certain, in seconds since 1970.
    var time: Int64
    /// The JSON of the source.
    var body: [UInt8]

    /// The longest first line that is believed.
    private static let longestHead = 4096
    /// The longest validator that is kept.
    private static let longestValidator = 1024

    /// The bytes of the file.
    var bytes: [UInt8] {
        var head = PropertyList.Dictionary()
        head["time"] = .integer(time)
        head["count"] = .integer(Int64(body.count))
        head["etag"] = Self.usable(etag).map { .string($0) }
        head["lastModified"] = Self.usable(lastModified).map { .string($0) }
        return JSONLine.text(head) + [0x0A] + body
    }

    /// An answer that is to be kept.
    init(etag: String?, lastModified: String?, time: Int64, body: [UInt8]) {
        self.etag = Self.usable(etag)
        self.lastModified = Self.usable(lastModified)
        self.time = time
        self.body = body
    }

    /// Reads the file; `nil` where it is damaged, which is as good as none.
    init?(_ bytes: [UInt8]) {
        guard let end = bytes.prefix(Self.longestHead).firstIndex(of: 0x0A),
            let head = try? PropertyList.parse(json: Array(bytes[..<end])),
            let time = head["time"]?.integer, let count = head["count"]?.integer,
            bytes.count - end - 1 == count
        else { return nil }
        self.init(
            etag: head["etag"]?.string,
            lastModified: head["lastModified"]?.string,
            time: time,
            body: Array(bytes[(end + 1)...])
        )
    }

    private static func usable(_ validator: String?) -> String? {
        guard let validator, !validator.isEmpty, validator.utf8.count <= longestValidator,
            validator.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
        else { return nil }
        return validator
    }
}

/// Small objects of texts and numbers as one line of JSON.
enum JSONLine {
    /// The bytes, without a line end.
    static func text(_ object: PropertyList.Dictionary) -> [UInt8] {
        let members = object.map { key, value in quoted(key) + ":" + scalar(value) }
        return Array(("{" + members.joined(separator: ",") + "}").utf8)
    }

    private static func scalar(_ value: PropertyList) -> String {
        switch value {
        case .integer(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        default: quoted(value.string ?? "")
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case _ where scalar.value < 0x20: quoted += "\\u00" + [UInt8(scalar.value)].hex
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
