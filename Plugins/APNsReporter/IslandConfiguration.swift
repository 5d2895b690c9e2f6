public import FerryAPNs
import FerryBytes
public import FerryLiveActivity

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Whose island is driven, and with which key: what the file of `--reporter apns:FILE` says.
///
/// The file is one JSON object; `docs/apns-reporter.md` has its keys. Paths in it are meant from its own folder.
public struct IslandConfiguration: Sendable {
    /// How large the file may be, in bytes.
    static let sizeLimit = 1 << 16
    /// Pushes an hour where the file does not say.
    public static let usualPushesPerHour = 720

    /// What people call the device.
    public var device: String
    /// The app that the activity belongs to.
    public var bundleID: String
    /// The provider key.
    public var key: ProviderKey
    /// Where pushes go.
    public var endpoint: APNsEndpoint
    /// The proxy to go through; `nil` for none.
    public var proxy: ProxyAddress?
    /// A file of trusted certificates (PEM); `nil` for the system's.
    public var caFile: String?
    /// How many pushes there may be in an hour. The last fifth is kept for what happens; numbers must do without.
    public var pushesPerHour: Int
    /// In which words a start is announced.
    public var words: IslandWords
    /// Whether a renewal makes no sound and shows no alert.
    public var renewsSilently: Bool
    /// Whether the app reports which states its widget drew, so that a stuck widget can be found.
    public var hearsWidget: Bool

    /// A configuration with the usual settings.
    public init(device: String, bundleID: String, key: ProviderKey, endpoint: APNsEndpoint) {
        self.device = device
        self.bundleID = bundleID
        self.key = key
        self.endpoint = endpoint
        pushesPerHour = Self.usualPushesPerHour
        words = .english
        renewsSilently = true
        hearsWidget = false
    }

    /// Reads a file and the key that it names; throws ``APNsReporterError`` with code `configuration`.
    public init(path: String) throws(APNsReporterError) {
        let fields = try Fields(text: try Self.read(path), path: path)
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
        func place(_ name: String) -> String { name.utf8.first == UInt8(ascii: "/") ? name : folder + name }

        let keyPath = place(try fields.text("key"))
        let key: ProviderKey
        do {
            key = try ProviderKey(
                p8: try Self.read(keyPath),
                keyID: try fields.text("keyID"),
                teamID: try fields.text("teamID")
            )
        } catch let error as APNsError {
            throw APNsReporterError(.configuration, "\(keyPath): \(error.message)", remedy: error.remedy)
        } catch let error as APNsReporterError {
            throw error
        } catch {
            throw APNsReporterError(.configuration, "\(keyPath): \(error)")
        }
        self.init(
            device: try fields.optionalText("device") ?? "phone",
            bundleID: try fields.text("bundleID"),
            key: key,
            endpoint: try fields.endpoint()
        )
        do {
            // What APNs would refuse each time is refused now.
            let topic = LiveActivityPush.topic(bundleID: bundleID)
            _ = try PushRequest(token: "00", topic: topic, priority: .ten, payload: [0])
        } catch {
            throw APNsReporterError(.configuration, "\(path): “bundleID”: \(error.message)", remedy: error.remedy)
        }
        proxy = try fields.proxy()
        caFile = try fields.optionalText("caFile").map(place)
        pushesPerHour = try fields.number("pushesPerHour", 1...100_000) ?? Self.usualPushesPerHour
        words = IslandWords.words(for: try fields.optionalText("language") ?? "en")
        renewsSilently = try fields.flag("renewsSilently") ?? true
        hearsWidget = try fields.flag("hearsWidget") ?? false
    }

    private static func read(_ path: String) throws(APNsReporterError) -> [UInt8] {
        do {
            let source = try FileSource(path: path)
            guard source.count <= sizeLimit else {
                throw APNsReporterError(
                    .configuration,
                    "\(path): it has \(source.count) bytes, more than any real one (\(sizeLimit))."
                )
            }
            return try source.bytes(at: 0, count: source.count)
        } catch let error as APNsReporterError {
            throw error
        } catch let error as any ExplainedError {
            throw APNsReporterError(.configuration, error.message, remedy: error.remedy)
        } catch {
            throw APNsReporterError(.configuration, "\(path): \(error)")
        }
    }
}

/// The keys of a configuration, each asked for by its type.
private struct Fields {
    private static let known = [
        "key", "keyID", "teamID", "bundleID", "environment", "host", "device", "proxy", "caFile", "pushesPerHour",
        "language", "renewsSilently", "hearsWidget",
    ]

    private let path: String
    private let values: [String: Value]

    private enum Value: Decodable {
        case text(String)
        case number(Double)
        case flag(Bool)
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else if let text = try? container.decode(String.self) {
                self = .text(text)
            } else {
                self = .other
            }
        }
    }

    init(text: [UInt8], path: String) throws(APNsReporterError) {
        self.path = path
        do {
            values = try JSONDecoder().decode([String: Value].self, from: Data(text))
        } catch {
            throw APNsReporterError(
                .configuration,
                "\(path): it is no JSON object.",
                remedy: "Write {\"key\": \"AuthKey.p8\", …}; docs/apns-reporter.md has an example."
            )
        }
        if let unknown = values.keys.filter({ !Self.known.contains($0) }).min() {
            throw APNsReporterError(
                .configuration,
                "\(path): it has the key “\(unknown.printable)”, which means nothing here.",
                remedy: "Known are \(Self.known.joined(separator: ", "))."
            )
        }
    }

    func optionalText(_ name: String) throws(APNsReporterError) -> String? {
        switch values[name] {
        case nil: return nil
        case .text(let text) where !text.isEmpty: return text
        default: throw fault(name, "a text")
        }
    }

    func text(_ name: String) throws(APNsReporterError) -> String {
        guard let text = try optionalText(name) else {
            throw APNsReporterError(.configuration, "\(path): it has no “\(name)”.", remedy: "Add it.")
        }
        return text
    }

    func flag(_ name: String) throws(APNsReporterError) -> Bool? {
        switch values[name] {
        case nil: return nil
        case .flag(let flag): return flag
        default: throw fault(name, "true or false")
        }
    }

    func number(_ name: String, _ range: ClosedRange<Int>) throws(APNsReporterError) -> Int? {
        guard let value = values[name] else { return nil }
        guard case .number(let number) = value, let whole = Int(exactly: number), range.contains(whole) else {
            throw fault(name, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return whole
    }

    func endpoint() throws(APNsReporterError) -> APNsEndpoint {
        let environment = try optionalText("environment")
        guard let host = try optionalText("host") else {
            switch environment {
            case "production": return .production
            case "sandbox": return .sandbox
            default: throw fault("environment", "“production” or “sandbox”")
            }
        }
        let parts = host.split(separator: ":", omittingEmptySubsequences: false)
        guard environment == nil else {
            throw APNsReporterError(
                .configuration,
                "\(path): it has both “environment” and “host”.",
                remedy: "Leave out “host”, unless the pushes go to a server of your own."
            )
        }
        guard parts.count <= 2, let name = parts.first, !name.isEmpty,
            let port = parts.count == 2 ? UInt16(parts[1]) : 443, port > 0
        else {
            throw fault("host", "a host's name, perhaps with a port, as “localhost:2197”")
        }
        return .custom(host: String(name), port: port)
    }

    func proxy() throws(APNsReporterError) -> ProxyAddress? {
        guard let url = try optionalText("proxy") else { return nil }
        do {
            return try ProxyAddress(url: url)
        } catch {
            throw APNsReporterError(.configuration, "\(path): \(error.message)", remedy: error.remedy)
        }
    }

    private func fault(_ name: String, _ wanted: String) -> APNsReporterError {
        APNsReporterError(.configuration, "\(path): “\(name)” is not \(wanted).")
    }
}
