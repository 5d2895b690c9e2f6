import FerryWeb
import TestKit
import Testing

@testable import FerryDownload

/// A server of the course's own, without sockets: answers each request rightly, piece by piece, and breaks at random.
private struct Line {
    var course: DownloadCourse
    var generator: SeededGenerator
    let total: Int64
    /// Requests that were not answered yet, by lane.
    var asked: [Int: DownloadCourse.Request] = [:]
    /// How much of the body of each answered lane is left.
    var left: [Int: Int64] = [:]
    /// How often each byte was taken.
    var taken: [UInt8]
    var isSealed = false
    var most = 0
    var time = Duration.zero

    init(seed: UInt64, total: Int64, connections: Int) throws {
        generator = SeededGenerator(seed: seed)
        self.total = total
        taken = Array(repeating: 0, count: Int(total))
        let limits = DownloadCourse.Limits(connections: .fixed(connections), minimumPiece: 4096)
        let origin = try #require(WebAddress("http://example.org/file"))
        course = DownloadCourse(origin: origin, limits: limits, startsHeld: false)
        _ = course.begin()
        take(course.opened(.init()))
    }

    mutating func take(_ steps: [DownloadCourse.Step]) {
        for step in steps {
            switch step {
            case .connect(let request):
                asked[request.lane] = request
                left[request.lane] = nil
            case .drop:
                asked = [:]
                left = [:]
            case .dropLane(let lane):
                asked[lane] = nil
                left[lane] = nil
            case .startOver: taken = Array(repeating: 0, count: Int(total))
            case .startTimer: take(course.timerFired())
            case .seal: isSealed = true
            default: break
            }
        }
    }

    mutating func end(_ lane: Int, _ ending: DownloadCourse.Ending) {
        asked[lane] = nil
        left[lane] = nil
        take(course.connectionEnded(ending, on: lane))
    }

    /// One thing happens on one connection.
    mutating func happen() {
        time += .milliseconds(5)
        let lanes = Set(asked.keys).union(left.keys).sorted()
        most = max(most, lanes.count)
        guard let lane = lanes.randomElement(using: &generator) else { return }
        if Int.random(in: 0..<60, using: &generator) == 0 {
            let error = DownloadError(.connection, "It broke.")
            end(lane, .broken(.init(error: error, canPass: true)))
        } else if let request = asked.removeValue(forKey: lane) {
            answer(request, lane)
        } else if let rest = left[lane] {
            bring(lane, rest)
        }
        take(course.look(at: time))
    }

    private mutating func answer(_ request: DownloadCourse.Request, _ lane: Int) {
        var answer = Answer(status: request.isRanged ? 206 : 200)
        answer.etag = "\"v1\""
        let end = request.end ?? total
        if request.isRanged {
            answer.range = .part(first: request.from, last: end - 1, total: total)
        }
        answer.length = end - request.from
        left[lane] = end - request.from
        let (steps, receives) = course.answered(answer, on: lane)
        take(steps)
        #expect(receives)
    }

    private mutating func bring(_ lane: Int, _ rest: Int64) {
        guard rest > 0 else { return end(lane, .complete) }
        let count = min(rest, Int64.random(in: 1...40_000, using: &generator))
        guard let (welcome, offset) = course.accepts(Int(count), on: lane) else {
            return end(lane, .broken(.init(error: DownloadError(.connection, "It was cut."), canPass: true)))
        }
        for index in Int(offset)..<Int(offset) + welcome { taken[index] += 1 }
        left[lane] = rest - count
        if Int64(welcome) < count || course.isSpent(lane) {
            end(lane, .broken(.init(error: DownloadError(.connection, "It was cut."), canPass: true)))
        }
    }
}

@Suite struct `A download by several connections, on paper` {
    @Test(arguments: [1, 2, 3, 8, 16], [UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max)])
    func `takes each byte once, whatever breaks`(connections: Int, seed: UInt64) throws {
        var line = try Line(seed: seed, total: 2_000_000, connections: connections)
        var steps = 0
        while !line.isSealed, steps < 100_000 {
            line.happen()
            steps += 1
        }
        #expect(line.isSealed, "seed \(seed): the phase is \(line.course.phase)")
        #expect(line.taken.allSatisfy { $0 == 1 }, "seed \(seed)")
        #expect(line.course.present == ByteMap(front: 2_000_000), "seed \(seed)")
        #expect(line.most == connections, "seed \(seed)")
    }

    @Test func `asks for parts by If-Range, from the front on`() throws {
        var line = try Line(seed: 1, total: 1_000_000, connections: 4)
        #expect(line.asked == [0: .init(address: line.course.origin)])
        while line.asked.count + line.left.count < 4 { line.happen() }
        for (lane, request) in line.asked where lane > 0 {
            #expect(request.validator == "\"v1\"")
            #expect(request.from % 4096 == 0)
            #expect(request.end != nil || request.from > 0)
        }
        // 32 of the least pieces, one after the other; the rest belongs to nobody yet, or to the last.
        let starts = line.course.lanes.values.map(\.request.from).sorted()
        #expect(starts == [0, 131_072, 262_144, 393_216])
    }

    @Test func `asks for no parts where nothing proves the version`() throws {
        for (etag, length) in [("W/\"v1\"", 1_000_000), (nil, 1_000_000), ("\"v1\"", nil)] as [(String?, Int64?)] {
            var course = try course()
            var answer = Answer(status: 200, length: length)
            answer.etag = etag
            #expect(course.answered(answer).receives)
            #expect(course.look(at: .seconds(1)) == [])
        }
        var course = try course()
        var answer = Answer(status: 200, length: 1_000_000)
        answer.etag = "\"v1\""
        answer.acceptRanges = "none"
        #expect(course.answered(answer).receives)
        #expect(course.look(at: .seconds(1)) == [])
    }

    @Test func `leaves the file to one connection at a server that sends no parts`() throws {
        var course = try course()
        _ = course.answered(whole)
        #expect(course.look(at: .seconds(1)).count == 4)
        for lane in 1...3 {
            #expect(!course.answered(whole, on: lane).receives)
            #expect(course.connectionEnded(.complete, on: lane) == [])
        }
        // The first goes on to the end of its own answer, and nothing is asked for again.
        #expect(course.accepts(1_000_000)?.count == 1_000_000)
        #expect(course.connectionEnded(.complete).last == .seal)
    }

    @Test(arguments: [403, 404, 429, 500, 503]) func `goes on with those that the server lets in`(status: Int) throws {
        var course = try course()
        _ = course.answered(whole)
        _ = course.look(at: .seconds(1))
        #expect(!course.answered(Answer(status: status), on: 3).receives)
        #expect(course.connectionEnded(.complete, on: 3) == [])
        #expect(course.lanes.count == 3)
        #expect(course.look(at: .seconds(2)) == [])
    }

    @Test func `starts the whole over once when a part is of another version, and by one connection`() throws {
        var course = try course()
        _ = course.answered(whole)
        _ = course.look(at: .seconds(1))
        #expect(course.accepts(1000)?.count == 1000)
        var other = whole
        other.etag = "\"v2\""
        #expect(!course.answered(other, on: 1).receives)
        let steps = course.connectionEnded(.complete, on: 1)
        #expect(
            steps == [
                .drop, .startOver(FileVersion()), .tell(.restarted(reason: "The file on the server has changed.")),
                .connect(.init(address: course.origin)),
            ]
        )
        #expect(course.answered(other).receives)
        #expect(course.look(at: .seconds(2)) == [])
    }

    @Test func `holds those that bring bytes, and gives up those that do not yet`() throws {
        var course = try course()
        _ = course.answered(whole)
        _ = course.look(at: .seconds(1))
        #expect(
            course.hold() == [
                .dropLane(1), .dropLane(2), .dropLane(3), .pause, .saveHeld(true), .startTimer(.seconds(20)),
                .tell(.held(reason: nil)),
            ]
        )
        #expect(course.look(at: .seconds(2)) == [])
        #expect(course.release() == [.saveHeld(false), .stopTimer, .tell(.released), .unpause])
        #expect(course.look(at: .seconds(3)).count == 3)
    }

    private var whole: Answer {
        var answer = Answer(status: 200, length: 1_000_000)
        answer.etag = "\"v1\""
        return answer
    }

    private func course() throws -> DownloadCourse {
        let limits = DownloadCourse.Limits(connections: .fixed(4), minimumPiece: 4096)
        var course = DownloadCourse(
            origin: try #require(WebAddress("http://example.org/file")),
            limits: limits,
            startsHeld: false
        )
        _ = course.begin()
        _ = course.opened(.init())
        return course
    }
}
