import FerryActivity
import Foundation
import TestKit

@testable import FerryLiveActivity

/// Activities and states that several suites look at.
enum IslandSamples {
    /// Second 802,000,000 after 2001-01-01.
    static let date = Date(timeIntervalSinceReferenceDate: 802_000_000)
    /// Second 1,780,000,000 after 1970-01-01.
    static let pushDate = Date(timeIntervalSince1970: 1_780_000_000)

    static func failure(_ stage: Stage = .signing) -> Outcome {
        .failed(Failure(message: "The profile has expired.", remedy: nil, stage: stage))
    }

    static func install(
        _ title: String,
        _ stage: Stage = .waiting,
        _ progress: StageProgress? = nil,
        rate: Double? = nil,
        held: Bool = false,
        outcome: Outcome? = nil
    ) -> Install {
        Install(
            id: InstallID(title),
            title: title,
            stage: outcome == nil ? stage : .finished,
            progress: progress,
            bytesPerSecond: rate,
            isHeld: held,
            outcome: outcome,
            addedAt: date
        )
    }

    static let oneDownload = Activity(
        installs: [install("Lantern", .downloading, .bytes(19_680_000, of: 48_000_000), rate: 2_000_000)],
        measuredAt: date
    )

    static let batch = Activity(
        installs: [
            install("Lantern", .downloading, .bytes(25_000_000, of: 100_000_000), rate: 1_000),
            install("Compass", outcome: failure()), install("Tide", .signing),
            install("Reef", outcome: .installed(location: nil)), install("Harbor", held: true), install("Oriel"),
        ],
        measuredAt: date
    )

    static let finished = Activity(installs: [
        install("Lantern", outcome: .installed(location: "/srv")), install("Compass", outcome: failure()),
        install("Tide", outcome: .cancelled),
    ])

    static let heldTap = IslandState(
        Activity(installs: [install("\"Quo/ted\" 灯籠", .downloading, .bytes(5, of: 10), held: true)]),
        seq: 8,
        icon: Array("\u{89}PNG".unicodeScalars.map { UInt8($0.value) }),
        needsTap: true
    )

    /// Any activity at all, of one to `limit` installs.
    static func random(upTo limit: Int, _ random: inout SeededGenerator) -> Activity {
        let totals: [Int64?] = [nil, 0, -1, 1, 100, 48_000_000, .max, .min]
        let installs = (0..<Int.random(in: 1...limit, using: &random)).map { number -> Install in
            let total = totals.randomElement(using: &random) ?? nil
            let completed = totals.randomElement(using: &random) ?? nil
            var outcome: Outcome?
            if Bool.random(using: &random) {
                outcome = [.cancelled, .installed(location: nil), failure()].randomElement(using: &random)
            }
            return install(
                names.randomElement(using: &random) ?? "",
                Stage.allCases.dropLast().randomElement(using: &random) ?? .waiting,
                Bool.random(using: &random) ? .bytes(completed ?? 7, of: total) : nil,
                rate: [nil, 0, 1, 1e9, .infinity, .nan, -5].randomElement(using: &random) ?? nil,
                held: Int.random(in: 0..<3, using: &random) == 0,
                outcome: outcome
            )
        }
        let dates = [nil, date, .distantFuture, .distantPast, Date(timeIntervalSinceReferenceDate: .nan)]
        return Activity(installs: installs, measuredAt: dates.randomElement(using: &random) ?? nil)
    }

    /// Names in several scripts, empty, hostile and endless ones.
    static let names: [String] = [
        "Lantern", "", "\u{0}\u{0}\u{0}", "\"quoted\" \\ back/slash", "two\r\nlines\tand\u{2028}more",
        String(repeating: "ตัวติดตั้งแอปพลิเคชัน", count: 40), String(repeating: "تطبيق المصباح ", count: 60),
        String(repeating: "👨‍👩‍👧‍👦", count: 60), String(repeating: "e\u{301}\u{327}", count: 200),
        "Z" + String(repeating: "\u{335}\u{322}", count: 5_000), String(repeating: "灯籠とランタン", count: 50),
        String(repeating: "long name ", count: 1_000), String(repeating: "\"", count: 10_000),
        String(repeating: "\\\u{0}", count: 5_000), "\u{202E}desrever", "🇩🇪🇫🇷🇯🇵", "क्षत्रिय संस्थापक", "\u{FEFF}bom",
    ]

    /// A golden file's bytes.
    static func golden(_ name: String, from file: String = #filePath) throws -> [UInt8] {
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent().deletingLastPathComponent()
        return [UInt8](try Data(contentsOf: folder.appendingPathComponent("Golden/\(name).json")))
    }

    static func decode(_ json: String) throws -> IslandState { try decode(Array(json.utf8)) }

    static func decode(_ json: [UInt8]) throws -> IslandState {
        try JSONDecoder().decode(IslandState.self, from: Data(json))
    }
}
