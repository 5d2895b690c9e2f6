import FerryActivity
import FerryWebReporter
import Foundation

/// A server-sent event, read as the HTML standard says (§9.2.6).
struct Event: Equatable {
    var id: String?
    var type = "message"
    var data = ""

    /// The events in a piece, which must be whole ones; comments are left out.
    static func all(_ bytes: [UInt8]) -> [Event] {
        let text = String(decoding: bytes, as: UTF8.self)
        precondition(text.hasSuffix("\n\n"))
        return text.components(separatedBy: "\n\n").dropLast().compactMap { block in
            var event = Event()
            for line in block.components(separatedBy: "\n") where !line.hasPrefix(":") {
                let parts = line.components(separatedBy: ": ")
                let value = parts.dropFirst().joined(separator: ": ")
                switch parts[0] {
                case "id": event.id = value
                case "event": event.type = value
                case "data": event.data += value
                default: break
                }
            }
            return event.data.isEmpty ? nil : event
        }
    }

    var object: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(data.utf8))) as? [String: Any] ?? [:]
    }
}

/// A viewer that reads by hand.
struct Viewer {
    private var iterator: WebEvents.Iterator
    private var read: [Event] = []

    init?(_ reporter: WebReporter, after id: String? = nil) {
        guard let events = reporter.events(after: id) else { return nil }
        iterator = events.makeAsyncIterator()
    }

    /// The next event.
    mutating func next() async -> Event? {
        while read.isEmpty {
            guard let bytes = await iterator.next() else { return nil }
            read = Event.all(bytes)
        }
        return read.removeFirst()
    }

    /// All up to the end.
    mutating func rest() async -> [Event] {
        var events: [Event] = []
        while let event = await next() { events.append(event) }
        return events
    }

    /// The next event of a type; others are passed over.
    mutating func next(_ type: String) async -> Event? {
        while let event = await next() {
            if event.type == type { return event }
        }
        return nil
    }
}
