/// A scripted life of some installs, for checks and demonstrations.
public struct History: Sendable {
    /// What it is about.
    public let name: String
    /// What the pipeline would send, in order.
    public let events: [ActivityEvent]

    /// A history of one's own.
    public init(name: String, events: [ActivityEvent]) {
        self.name = name
        self.events = events
    }

    /// The histories that every reporter must cope with.
    public static var all: [History] {
        [
            .empty, .one, .batch, .holds, .failures, .cancelled, .unicode, .unknownLengths, .notes, .icons, .steps,
            .twoBatches,
            .many,
        ]
    }

    /// The center closes before anything happens.
    public static let empty = History(name: "empty", events: [])

    /// One install without trouble.
    public static let one = History(name: "one install", events: install("one", title: "Lantern"))

    /// Three installs side by side.
    public static let batch = History(
        name: "a batch",
        events: sideBySide(["Lantern", "Compass", "Tide"].map { install(InstallID($0), title: $0) })
    )

    /// Installs that are held and released, also when there is nothing to hold.
    public static let holds = History(
        name: "hold and release",
        events: [
            .added("a", title: "Lantern"), .added("b", title: "Compass"), .held("a"), .held("b"), .held("b"),
            .released("a"), .stage("a", .downloading), .progress("a", .bytes(10, of: 100)), .held("a"),
            .progress("a", .bytes(20, of: 100)), .released("a"), .progress("a", .bytes(100, of: 100)),
            .finished("a", .installed(location: nil)), .released("a"), .finished("b", .cancelled),
        ]
    )

    /// Installs that fail at each stage.
    public static let failures = History(
        name: "failures",
        events: Stage.allCases.dropLast().flatMap { stage -> [ActivityEvent] in
            let id = InstallID(stage.rawValue)
            let failure = Failure(
                message: "The app was refused\nwhile \(stage.rawValue).",
                remedy: stage == .signing ? "Renew the profile." : nil,
                stage: stage
            )
            return [.added(id, title: "Lantern"), .stage(id, stage), .finished(id, .failed(failure))]
        }
    )

    /// Installs that somebody ends, one of them at once.
    public static let cancelled = History(
        name: "cancelled",
        events: [
            .added("a", title: "Lantern"), .finished("a", .cancelled), .added("b", title: "Compass"),
            .stage("b", .downloading), .progress("b", .bytes(1, of: nil)), .finished("b", .cancelled),
            .progress("b", .bytes(2, of: nil)),
        ]
    )

    /// Names in many scripts, empty ones, ones with control characters, and a very long one.
    public static let unicode = History(
        name: "names",
        events: [
            "灯籠", "פנס", "👩‍👩‍👧‍👦 Family 🇩🇪", "e\u{301}clair", "", "\u{1B}[31mred\u{7}\u{0}", "two\nlines\t\"quoted\" \\",
            String(repeating: "long ", count: 400), "Z\u{335}\u{322}a\u{335}l\u{335}g\u{335}o",
        ].enumerated().flatMap { install(InstallID("\($0) \($1)"), title: $1) }
    )

    /// Downloads without a length, with a wrong one, and ones that begin again.
    public static let unknownLengths = History(
        name: "unknown lengths",
        events: [
            .added("a", title: "Lantern"), .stage("a", .downloading), .progress("a", .bytes(5, of: nil)),
            .progress("a", .bytes(50, of: 40)), .progress("a", .bytes(0, of: 0)), .progress("a", .bytes(-1, of: -1)),
            .progress("a", .bytes(.max, of: .max)), .progress("a", .bytes(.min, of: .max)),
            .progress("a", .bytes(1, of: 100)), .stage("a", .waiting), .stage("a", .downloading),
            .stage("a", .signing), .progress("a", .steps(1, of: 3)), .finished("a", .installed(location: "/srv/a.ipa")),
        ]
    )

    /// More warnings than are kept.
    public static let notes = History(
        name: "notes",
        events: [.added("a", title: "Lantern")] + (1...50).map { .note("a", "The profile expires in \($0) days.") }
            + [.finished("a", .installed(location: nil))]
    )

    /// Icons: one that changes, the same once more, the longest, one too long, one without bytes.
    public static let icons = History(
        name: "icons",
        events: [
            .added("a", title: "Lantern"), .added("b", title: "Compass"), .icon("a", [0xFF, 0xD8, 0xFF, 0xD9]),
            .icon("a", [0xFF, 0xD8, 0xFF, 0xD9]), .stage("a", .downloading), .icon("a", [0xFF, 0xD8, 0, 0xFF, 0xD9]),
            .icon("b", [UInt8](repeating: 0xA5, count: Install.maximumIconBytes)),
            .icon("b", [UInt8](repeating: 0x5A, count: Install.maximumIconBytes + 1)), .icon("b", []),
            .icon("c", [0xFF, 0xD8, 0xFF, 0xD9]), .finished("a", .installed(location: nil)),
            .icon("a", [0xFF, 0xD8]), .finished("b", .cancelled),
        ]
    )

    /// Steps: the same once more, one that another stage ends, an empty one, one of an install that waits.
    public static let steps = History(
        name: "steps",
        events: [
            .added("a", title: "Lantern"), .stage("a", .installing), .step("a", "VerifyingApplication"),
            .step("a", "VerifyingApplication"), .step("a", ""), .progress("a", .steps(40, of: 100)),
            .step("a", String(repeating: "long ", count: 2_000)), .stage("a", .signing), .stage("a", .installing),
            .step("a", "\u{1B}[31mred"), .added("b", title: "Compass"), .step("b", "waits for its turn"),
            .finished("a", .installed(location: nil)), .step("a", "late"), .finished("b", .cancelled),
        ]
    )

    /// A batch after the end of another, and an install that is tried again.
    public static let twoBatches = History(
        name: "two batches",
        events: install("a", title: "Lantern") + [.added("b", title: "Compass")] + install("c", title: "Tide")
            + [.finished("b", .cancelled)] + install("c", title: "Tide") + install("d", title: "Reef")
    )

    /// Five hundred installs side by side.
    public static let many = History(
        name: "500 installs",
        events: sideBySide((1...500).map { install(InstallID("app-\($0)"), title: "App \($0)") })
    )

    /// An install without trouble.
    public static func install(_ id: InstallID, title: String) -> [ActivityEvent] {
        let length: Int64 = 48_000_000
        return [
            .added(id, title: title),
            .stage(id, .downloading),
            .progress(id, .bytes(0, of: length)),
            .progress(id, .bytes(length / 4, of: length)),
            .progress(id, .bytes(length / 2, of: length)),
            .progress(id, .bytes(length, of: length)),
            .stage(id, .signing),
            .named(id, title: title, bundleID: "org.example." + id.rawValue, version: "1.2"),
            .stage(id, .installing),
            .progress(id, .steps(1, of: 2)),
            .finished(id, .installed(location: nil)),
        ]
    }

    /// The first event of each, then the second of each, and so on.
    public static func sideBySide(_ histories: [[ActivityEvent]]) -> [ActivityEvent] {
        let length = histories.map(\.count).max() ?? 0
        return (0..<length).flatMap { index in
            histories.compactMap { index < $0.count ? $0[index] : nil }
        }
    }
}
