import FerryActivity
import Foundation
import TestKit
import Testing

@testable import FerryLiveActivity

private typealias Samples = IslandSamples

@Suite struct `The JSON of a content state` {
    private static let golden: [(String, IslandState)] = [
        ("state-one-download", IslandState(Samples.oneDownload, seq: 7)),
        ("state-batch", IslandState(Samples.batch, seq: 12)),
        ("state-finished", IslandState(Samples.finished, seq: 30)),
        ("state-held-tap", Samples.heldTap),
    ]

    @Test(arguments: golden) func `is that of the golden file`(name: String, state: IslandState) throws {
        let expected = try Samples.golden(name)
        #expect(String(decoding: try state.encoded(), as: UTF8.self) == String(decoding: expected, as: UTF8.self))
        #expect(try Samples.decode(expected) == state)
    }

    @Test func `is as small as was measured elsewhere`() throws {
        func size(_ count: Int, name: Int) throws -> Int {
            let installs = (1...count).map {
                Samples.install(
                    String(repeating: "\($0)", count: name),
                    .downloading,
                    .bytes(19_680_000, of: 48_000_000),
                    rate: 2_000_000
                )
            }
            return try IslandState(Activity(installs: installs, measuredAt: Samples.date), seq: 100).encoded().count
        }
        // Measured with other keys: 163, 265 and 377 bytes.
        #expect(try (150...170).contains(size(1, name: 12)))
        #expect(try (265...320).contains(size(4, name: 12)))
        #expect(try (377...440).contains(size(4, name: 40)))
    }

    @Test func `does not depend on the strategies of a coder`() throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let state = IslandState(Samples.oneDownload, seq: 7)
        #expect(try [UInt8](encoder.encode(state)) == Samples.golden("state-one-download"))
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .millisecondsSince1970
        #expect(try decoder.decode(IslandState.self, from: encoder.encode(state)) == state)
        let list = PropertyListEncoder()
        #expect(try PropertyListDecoder().decode(IslandState.self, from: list.encode(state)) == state)
    }

    @Test func `comes back as it was, whatever the activity`() throws {
        for seed in UInt64(1)...300 {
            var random = SeededGenerator(seed: seed)
            let activity = Samples.random(upTo: 12, &random)
            let state = IslandState(activity, seq: Int(seed), icon: random.bytes(20), needsTap: seed % 5 == 0)
            let back = try Samples.decode(state.encoded())
            #expect(back == state, "seed \(seed)")
            for words in IslandWords.builtIn {
                #expect(
                    IslandPresentation(back, words: words) == IslandPresentation(state, words: words),
                    "seed \(seed)"
                )
            }
        }
    }

    @Test(
        arguments: [
            ("{}", IslandState()),
            (#"{"seq":3,"colour":"red","deep":{"er":[1,null]}}"#, IslandState(seq: 3)),
            (#"{"seq":null,"count":null,"items":null,"icon":null,"finishAt":null,"held":null}"#, IslandState()),
            (
                #"{"seq":1.9,"count":1,"loading":true,"pct":-5}"#,
                IslandState(seq: 1, count: 1, isDownloading: true, percent: 0)
            ),
            (#"{"count":1,"loading":true,"pct":1e30}"#, IslandState(count: 1, isDownloading: true, percent: 100)),
            (#"{"more":-7,"seq":-1e300}"#, IslandState()),
            (#"{"more":99999999999999999999}"#, IslandState(hiddenCount: IslandState.maximumCount)),
            (
                #"{"count":1,"loading":true,"finishAt":802000013.7}"#,
                IslandState(count: 1, isDownloading: true, finishAt: Samples.date + 14)
            ),
            (
                #"{"count":1,"loading":true,"finishAt":1e300,"bar":-3}"#,
                IslandState(count: 1, isDownloading: true, barFraction: 0)
            ),
            (#"{"count":1,"icon":"not base64!"}"#, IslandState(count: 1)),
            (#"{"count":2,"icon":"AAAA"}"#, IslandState(count: 2)),
            (
                #"{"count":1,"items":[{"at":"polishing","name":"A","size":5}]}"#,
                IslandState(count: 1, items: [.init(title: "A", stage: .unknown)])
            ),
            (
                #"{"count":1,"items":[{"at":"sign","pct":41}]}"#,
                IslandState(count: 1, items: [.init(title: "", stage: .signing)])
            ),
            (
                #"{"count":6,"more":1,"items":[{"at":"wait"},{"at":"wait"},{"at":"wait"},{"at":"wait"},{"at":"wait"}]}"#,
                IslandState(
                    count: 6,
                    items: Array(repeating: .init(title: "", stage: .waiting), count: 4),
                    hiddenCount: 2
                )
            ),
        ] as [(String, IslandState)]
    )
    func `is read tolerantly`(json: String, expected: IslandState) throws {
        #expect(try Samples.decode(json) == expected)
    }

    @Test(
        arguments: [
            (#"{"seq":"7"}"#, "seq", #"The field seq should be a number, but is the text "7"."#),
            (#"{"count":true}"#, "count", "The field count should be a number, but is true."),
            (#"{"held":1}"#, "held", "The field held should be true or false, but is the number 1.0."),
            (#"{"loading":{}}"#, "loading", "The field loading should be true or false, but is an object."),
            (
                #"{"finishAt":"2026-05-28T20:26:40Z"}"#, "finishAt",
                #"The field finishAt should be a number, but is the text "2026-05-28T20:26:40Z"."#
            ),
            (#"{"icon":[1,2]}"#, "icon", "The field icon should be text, but is a list."),
            (#"{"items":{}}"#, "items", "The field items should be a list, but is an object."),
            (
                #"{"items":[{"at":"wait"},5]}"#, "items[1]",
                "The field items[1] should be an object, but is something else."
            ),
            (
                #"{"items":[{"at":"wait"},{"at":"load","pct":"41"}]}"#, "items[1].pct",
                #"The field items[1].pct should be a number, but is the text "41"."#
            ),
            (
                #"{"items":[{"name":"A"}]}"#, "items[0].at",
                #"The field items[0].at should be a stage, such as "load", but is nothing."#
            ),
            (#"{"items":[{"at":3}]}"#, "items[0].at", "The field items[0].at should be text, but is the number 3.0."),
            ("[]", "", "The content state should be an object, but is something else."),
        ]
    )
    func `says which field has the wrong type`(json: String, path: String, message: String) {
        let error = #expect(throws: IslandStateError.self) { try Samples.decode(json) }
        #expect(error?.code == .wrongType)
        #expect(error?.path == path)
        #expect(error?.message == message)
        #expect(error?.remedy == "Build app, widget and server from the same version of FerryLiveActivity.")
        #expect(
            error?.description == message + " Build app, widget and server from the same version of FerryLiveActivity."
        )
    }

    @Test func `never traps, cut or changed anywhere`() throws {
        let whole = try Samples.golden("state-batch")
        for length in whole.indices {
            #expect(throws: (any Error).self) { try Samples.decode(Array(whole[..<length])) }
        }
        var read = 0
        for index in whole.indices {
            for byte in [0x00, 0x22, 0x2D, 0x39, 0x5B, 0x65, 0x7D, 0xFF, whole[index] ^ 1] as [UInt8] {
                var changed = whole
                changed[index] = byte
                guard let state = try? Samples.decode(changed) else { continue }
                read += 1
                #expect(try Samples.decode(state.encoded()) == state)
                _ = IslandPresentation(state)
            }
        }
        #expect(read > 100)
    }

    @Test func `never traps, whatever value stands at whatever key`() throws {
        let values = [
            "null", "true", "-1", "0", "1e999", "-1e999", "1e-999", "9223372036854775808", "1.7976931348623157e308",
            "[]",
            "{}", "\"\"", "\"\\u0000\"", "[[[[]]]]", "{\"a\":1}", "[{\"at\":\"load\",\"pct\":1e300,\"held\":true}]",
        ]
        let keys = [
            "seq", "count", "done", "failed", "stopped", "loading", "pct", "bar", "bytes", "of", "finishAt", "icon",
            "items", "more", "held", "tap",
        ]
        var read = 0
        for seed in UInt64(1)...2_000 {
            var random = SeededGenerator(seed: seed)
            let fields = try keys.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }.map { key in
                "\"\(key)\":" + (try #require(values.randomElement(using: &random)))
            }
            let json = "{" + fields.joined(separator: ",") + "}"
            do {
                let state = try Samples.decode(json)
                read += 1
                #expect(try Samples.decode(state.encoded()) == state, "seed \(seed): \(json)")
                #expect(IslandPresentation(state).compactTrailing.count <= 8, "seed \(seed): \(json)")
            } catch {
                #expect(error is IslandStateError || error is DecodingError, "seed \(seed): \(json)")
            }
        }
        #expect(read > 50)
    }

    @Test func `survives numbers that JSON does not have`() throws {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        let json = #"{"seq":"nan","count":1,"loading":true,"pct":"inf","bar":"nan","finishAt":"-inf","more":"-inf"}"#
        let state = try decoder.decode(IslandState.self, from: Data(json.utf8))
        #expect(state == IslandState(count: 1, isDownloading: true, percent: 100))
    }

    @Test(.enabled(if: Tool("python3") != nil, "python3 is missing")) func `is what Python reads and writes`() throws {
        let python = try #require(Tool("python3"))
        let keys = [
            "state-one-download": "bar bytes count finishAt items loading of pct seq",
            "state-batch": "bar bytes count done failed items loading more of pct seq",
            "state-finished": "count done failed items seq stopped",
            "state-held-tap": "bar bytes count held icon items loading of pct seq tap",
        ]
        let script = """
            import json, sys
            raw = sys.stdin.buffer.read()
            state = json.loads(raw)
            again = json.dumps(state, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
            print(len(raw), again == raw, *sorted(state))
            """
        for (name, state) in Self.golden {
            let bytes = try state.encoded()
            let result = try python.run(["-c", script], input: bytes)
            #expect(result.text == "\(bytes.count) True \(try #require(keys[name]))\n", "\(result.errors)")
        }
    }
}

@Suite struct `Attributes` {
    @Test func `are tiny and come back as they were`() throws {
        let attributes = IslandAttributes(id: "a1", startedAt: IslandSamples.pushDate + 0.3)
        let bytes = try CompactJSON.encode(attributes)
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"id":"a1","startedAt":801692800}"#)
        #expect(try JSONDecoder().decode(IslandAttributes.self, from: Data(bytes)) == attributes)
        #expect(IslandAttributes(id: String(repeating: "x", count: 99)).id.utf8.count == 64)
        #expect(IslandAttributes.typeName == String(describing: IslandAttributes.self))
    }
}
