import FerryActivity
import Foundation
import TestKit
import Testing

@testable import FerryLiveActivity

private typealias Samples = IslandSamples

private let date = Samples.pushDate

/// What takes the most room: quotes are two bytes each in JSON.
private let longest = String(repeating: "\"", count: 10_000)

private let longestAlert = PushAlert(title: longest, body: longest, isPassive: true)
private let longestAttributes = IslandAttributes(id: longest, startedAt: date)

/// A state with every field at its longest.
private func largest(icon: [UInt8]? = nil, count: Int = IslandState.maximumCount) -> IslandState {
    let isBatch = count > 1
    let item = IslandState.Item(title: longest, stage: .downloading, percent: 100, isHeld: true)
    return IslandState(
        seq: .max,
        count: count,
        installedCount: isBatch ? .max : 0,
        failedCount: isBatch ? .max : 0,
        stoppedCount: isBatch ? .max : 0,
        isDownloading: true,
        percent: 100,
        barFraction: 0.123,
        downloadedBytes: .max,
        totalBytes: .max,
        finishAt: Date(timeIntervalSinceReferenceDate: 9_000_000_000),
        icon: icon,
        items: Array(repeating: item, count: isBatch ? 4 : 1),
        hiddenCount: isBatch ? .max : 0,
        isHeld: true,
        needsTap: true
    )
}

private func pushes(_ state: IslandState) -> [LiveActivityPush] {
    let alert = longestAlert
    let latest = Date(timeIntervalSince1970: 10_413_791_999)
    return [
        .start(
            longestAttributes,
            state,
            alert: alert,
            at: date,
            staleDate: latest,
            relevance: .pi
        ),
        .update(state, .fact, alert: alert, at: date, staleDate: latest, relevance: .pi),
        .end(state, dismissal: .after(.seconds(9_000)), alert: alert, at: date),
    ]
}

@Suite struct `The size of a push` {
    @Test(arguments: 0..<25) func `is under the limit for any number of installs and any names`(part: Int) throws {
        for count in stride(from: part + 1, through: 500, by: 25) {
            var random = SeededGenerator(seed: UInt64(count))
            let installs = try (0..<count).map { _ in
                Samples.install(
                    try #require(Samples.names.randomElement(using: &random)),
                    .downloading,
                    .bytes(1, of: 3)
                )
            }
            let state = IslandState(Activity(installs: installs), seq: count, icon: random.bytes(2_304))
            for push in pushes(state) {
                let encoded = try push.encode()
                #expect(encoded.body.count <= 4_096, "seed \(count)")
                #expect(try contentState(encoded.body) == encoded.state, "seed \(count)")
                #expect(encoded.state.items.count + encoded.state.hiddenCount == count, "seed \(count)")
            }
        }
    }

    @Test(arguments: IslandSamples.names) func `is under the limit for any name, with an icon and without`(
        name: String
    ) throws {
        for installs in [1, 2, 4, 5] {
            let activity = Activity(installs: (0..<installs).map { _ in Samples.install(name, .signing) })
            for icon in [nil, Array(repeating: UInt8(0xFF), count: 2_304)] {
                for push in pushes(IslandState(activity, seq: 1, icon: icon)) {
                    #expect(try push.encode().body.count <= 4_096)
                }
            }
        }
    }

    @Test func `has room for an icon of 2,304 bytes and none for 3,000`() throws {
        let icon = SeededIcon.bytes(2_304)
        let small = IslandState(Samples.oneDownload, seq: 7, icon: icon)
        let update = try LiveActivityPush.update(small, .fact, at: date).encode()
        #expect(update.shed.isEmpty)
        #expect(update.state.icon == icon)
        // Measured with other keys: 3,355 bytes. 3,072 of them are the icon.
        #expect((3_280...3_400).contains(update.body.count))
        let large = IslandState(Samples.oneDownload, seq: 7, icon: SeededIcon.bytes(3_000))
        let shed = try LiveActivityPush.update(large, .fact, at: date).encode()
        #expect(shed.shed.description == "the icon")
        #expect(shed.state == IslandState(Samples.oneDownload, seq: 7))
    }

    @Test func `cannot be above the limit, as the bare minimum is well under it`() throws {
        for push in pushes(largest()) + pushes(largest(icon: SeededIcon.bytes(100_000), count: 1)) {
            let whole = try push.encode()
            #expect(whole.body.count <= 4_096)
            let bare = try push.encode(limit: 2_560)
            #expect(bare.body.count <= 2_560)
        }
        // A batch never sheds at Apple's limit, and updates of one install only the icon.
        #expect(try LiveActivityPush.update(largest(), .fact, at: date).encode().shed.isEmpty)
    }

    @Test func `is shed in order: icon, items from the last, the name, the last item`() throws {
        let state = IslandState(
            seq: 1,
            count: 6,
            items: ["first 👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦", "second", "third", "fourth"].map { .init(title: $0, stage: .signing) },
            hiddenCount: 2
        )
        let push = LiveActivityPush.update(state, .fact, at: date)
        var seen: [String] = []
        var lastSize = Int.max
        for limit in stride(from: try push.encode().body.count, to: 0, by: -1) {
            guard let encoded = try? push.encode(limit: limit) else { break }
            #expect(encoded.body.count <= limit)
            #expect(encoded.body.count <= lastSize)
            lastSize = encoded.body.count
            let kept = encoded.state.items.map(\.title)
            #expect(kept.count + encoded.state.hiddenCount == 6)
            #expect(kept.dropFirst() == ["second", "third", "fourth"].prefix(max(kept.count - 1, 0)))
            if seen.last != "\(encoded.shed): \(kept.first ?? "-")" {
                seen.append("\(encoded.shed): \(kept.first ?? "-")")
            }
            #expect(try push.encode(limit: limit) == encoded)
        }
        let family = "👨‍👩‍👧‍👦"
        #expect(
            seen == [
                "nothing: first \(family)\(family)\(family)", "1 item: first \(family)\(family)\(family)",
                "2 items: first \(family)\(family)\(family)", "3 items: first \(family)\(family)\(family)",
                "3 items, 1 name: first \(family)\(family)…", "3 items, 1 name: first \(family)…",
                "3 items, 1 name: first…", "3 items, 1 name: firs…", "3 items, 1 name: fir…", "3 items, 1 name: fi…",
                "3 items, 1 name: f…", "3 items, 1 name: …", "3 items, 1 name: ", "4 items: -",
            ]
        )
    }

    @Test func `sheds the icon before the name of a single install`() throws {
        let state = IslandState(
            Activity(installs: [Samples.install(String(repeating: "name ", count: 40), .signing)]),
            seq: 1,
            icon: [1, 2, 3]
        )
        let push = LiveActivityPush.update(state, .fact, at: date)
        let size = try push.encode().body.count
        // "icon":"AQID", are 14 bytes.
        let first = try push.encode(limit: size - 1)
        #expect(first.shed.description == "the icon")
        #expect(first.body.count == size - 14)
        let second = try push.encode(limit: size - 20)
        #expect(second.shed.description == "the icon, 1 name")
        #expect(second.state.items.first?.title.hasSuffix("…") == true)
        #expect((size - 26...size - 20).contains(second.body.count))
    }

    @Test func `is an error where nothing helps`() throws {
        let push = LiveActivityPush.update(IslandState(seq: 1), .fact, at: date)
        // {"aps":{"content-state":{"count":0,"seq":1},"event":"update","timestamp":1780000000}}
        #expect(try push.encode(limit: 85).body.count == 85)
        let error = #expect(throws: IslandStateError.self) { try push.encode(limit: 84) }
        #expect(error?.code == .tooLarge)
        #expect(
            error?.description == "The push is 85 bytes long with all shed that can be; the limit is 84. "
                + "Give a limit of at least 85 bytes; Apple's is 4096."
        )
        for limit in [0, -1, Int.min] {
            #expect(throws: IslandStateError.self) { try push.encode(limit: limit) }
        }
    }

    @Test func `of a state alone is brought under the system's limit too`() throws {
        let state = IslandState(Samples.oneDownload, seq: 1, icon: SeededIcon.bytes(3_000))
        let fitted = try state.fitted()
        #expect(fitted.shed.description == "the icon")
        #expect(try fitted.state.encoded().count <= 3_584)
        #expect(try largest().fitted().shed.isEmpty)
        #expect(try largest().encoded().count < 2_600)
    }
}

private enum SeededIcon {
    static func bytes(_ count: Int) -> [UInt8] {
        var random = SeededGenerator(seed: 42)
        return random.bytes(count)
    }
}
