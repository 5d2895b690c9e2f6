import FerryWeb
import Testing

@testable import FerryDownload

/// A course whose partial file is open, with the request under way.
private func course(
    completed: Int64 = 0,
    version: FileVersion = FileVersion(etag: "\"v1\"", totalBytes: 1000),
    origin: String = "https://example.org/file",
    _ change: (inout DownloadCourse.Limits) -> Void = { _ in }
) throws -> DownloadCourse {
    var limits = DownloadCourse.Limits(retries: 3, backOff: BackOff(first: .seconds(1), limit: .seconds(4)))
    change(&limits)
    var course = DownloadCourse(origin: try #require(WebAddress(origin)), limits: limits, startsHeld: false)
    _ = course.begin()
    _ = course.opened(.init(present: ByteMap(front: completed), version: completed > 0 ? version : FileVersion()))
    return course
}

extension DownloadCourse {
    /// What the only connection asks for.
    var request: Request { lanes[0]?.request ?? Request(address: origin) }
}

private func answer(_ status: Int, _ change: (inout Answer) -> Void = { _ in }) -> Answer {
    var answer = Answer(status: status)
    change(&answer)
    return answer
}

/// An answer with a thousand bytes of version one.
private let whole = answer(200) { answer in
    answer.etag = "\"v1\""
    answer.length = 1000
}

private let broken = DownloadCourse.Ending.broken(.init(error: DownloadError(.connection, "It broke."), canPass: true))

@Suite struct `The course of a download` {
    @Test func `asks for the whole file first`() throws {
        var course = DownloadCourse(
            origin: try #require(WebAddress("http://example.org/a")),
            limits: .init(),
            startsHeld: false
        )
        #expect(course.begin() == [.open])
        #expect(course.opened(.init()) == [.connect(.init(address: course.origin))])
    }

    @Test func `asks for the rest by the strong validator`() throws {
        let course = try course(completed: 400)
        #expect(course.request.from == 400)
        #expect(course.request.validator == "\"v1\"")
    }

    @Test func `starts over when nothing can show that the file is the same`() throws {
        var course = try course()
        _ = course.answered(answer(200) { $0.length = 1000 })
        #expect(course.accepts(10)?.count == 10)
        _ = course.connectionEnded(broken)
        let steps = course.timerFired()
        #expect(steps.first == .startOver(FileVersion()))
        #expect(steps.last == .connect(.init(address: course.origin)))
    }

    @Test func `needs no request for a file that is whole`() throws {
        let course = try course(completed: 1000)
        #expect(course.phase == .sealing)
    }

    @Test(
        arguments: [
            (401, .unauthorized), (403, .forbidden), (404, .notFound), (407, .unauthorized), (410, .notFound),
            (400, .refused), (451, .refused), (204, .badAnswer), (206, .badAnswer), (304, .badAnswer), (0, .badAnswer),
        ] as [(Int, DownloadError.Code)]
    )
    func `never tries again after`(status: Int, code: DownloadError.Code) throws {
        var course = try course()
        let (steps, receives) = course.answered(answer(status))
        #expect(steps.isEmpty && !receives)
        let last = course.connectionEnded(.complete)
        #expect(last == [.drop, .stopTimer, .close(keepsPartial: true)])
        guard case .closing(let error) = course.phase else {
            Issue.record("the phase is \(course.phase)")
            return
        }
        #expect(error.code == code)
        #expect(error.remedy != nil)
        #expect(course.closed() == [.tell(.failed(error))])
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504, 599])
    func `tries again with longer waits after`(status: Int) throws {
        var course = try course()
        var waits: [Duration] = []
        for _ in 0..<3 {
            _ = course.answered(answer(status))
            let steps = course.connectionEnded(.complete, random: 1)
            for case .startTimer(let wait) in steps { waits.append(wait) }
            #expect(course.timerFired().contains(.connect(course.request)))
        }
        #expect(waits == [.seconds(1), .seconds(2), .seconds(4)])
        _ = course.answered(answer(status))
        #expect(course.connectionEnded(.complete).last == .close(keepsPartial: true))
    }

    @Test func `counts failures anew after new bytes, and only after new ones`() throws {
        var course = try course()
        for _ in 0..<10 {
            _ = course.answered(course.request.from == 0 ? whole : part(from: course.request.from))
            #expect(course.accepts(10)?.count == 10)
            #expect(course.connectionEnded(broken).contains { if case .startTimer = $0 { true } else { false } })
            _ = course.timerFired()
        }
        #expect(course.completedBytes == 100)
        // From here on the server only ever gives what was there before.
        for _ in 0..<2 {
            _ = course.answered(whole)
            #expect(course.accepts(100)?.count == 100)
            _ = course.connectionEnded(broken)
            _ = course.timerFired()
        }
        _ = course.answered(whole)
        #expect(course.accepts(100)?.count == 100)
        #expect(course.connectionEnded(broken).last == .close(keepsPartial: true))
    }

    @Test(arguments: [("7", 7), ("0", 1), ("Thu, 01 Jan 2026 00:00:20 GMT", 20), ("soon", 1)] as [(String, Int64)])
    func `waits as long as the server asks`(retryAfter: String, seconds: Int64) throws {
        var course = try course()
        _ = course.answered(
            answer(429) { answer in
                answer.retryAfter = retryAfter
                answer.date = "Thu, 01 Jan 2026 00:00:00 GMT"
            }
        )
        #expect(course.connectionEnded(.complete, random: 1).last == .startTimer(.seconds(seconds)))
    }

    @Test func `does not wait for a server that asks for too much`() throws {
        var course = try course { $0.retryAfterLimit = .seconds(60) }
        _ = course.answered(answer(429) { $0.retryAfter = "61" })
        _ = course.connectionEnded(.complete)
        guard case .closing(let error) = course.phase else {
            Issue.record("the phase is \(course.phase)")
            return
        }
        #expect(error.remedy == "It asks to wait 61 seconds; try again after that.")
    }

    @Test func `goes on by a part that is the one that it asked for`() throws {
        var course = try course(completed: 400)
        let (steps, receives) = course.answered(part(from: 400))
        #expect(receives)
        #expect(steps == [.tell(.started(totalBytes: 1000, resumedFrom: 400))])
        #expect(course.accepts(600)?.count == 600)
        #expect(course.connectionEnded(.complete).last == .seal)
    }

    @Test(
        arguments: [
            answer(206) { $0.etag = "\"v1\"" },
            answer(206) { $0.range = .unclear },
            answer(206) { $0.range = .part(first: 0, last: 999, total: 1000) },
            answer(206) { $0.range = .part(first: 401, last: 999, total: 1000) },
            answer(206) { $0.range = .part(first: 400, last: 1000, total: 1001) },
            answer(206) { answer in
                answer.range = .part(first: 400, last: 999, total: 1000)
                answer.etag = "\"v2\""
            },
            answer(416),
            answer(416) { $0.range = .nothing(total: 1000) },
        ]
    )
    fileprivate func `starts over after a part that does not fit`(answer: Answer) throws {
        var course = try course(completed: 400)
        #expect(!course.answered(answer).receives)
        let steps = course.connectionEnded(.complete)
        #expect(steps.first == .startOver(FileVersion()))
        #expect(steps.last == .connect(.init(address: course.origin)))
        #expect(course.completedBytes == 0)
    }

    @Test func `is done after a 416 with the length that is there`() throws {
        var course = try course(completed: 400, version: FileVersion(etag: "\"v1\""))
        _ = course.answered(answer(416) { $0.range = .nothing(total: 400) })
        #expect(course.connectionEnded(.complete).last == .seal)
    }

    @Test func `takes no byte more than is due`() throws {
        var course = try course()
        _ = course.answered(whole)
        #expect(course.accepts(1000)?.count == 1000)
        #expect(course.accepts(1) == nil)
        #expect(course.connectionEnded(broken).last == .close(keepsPartial: false))
    }

    @Test func `takes no byte beyond the limit when the length is unknown`() throws {
        var course = try course { $0.lengthLimit = 10 }
        _ = course.answered(answer(200))
        #expect(course.accepts(10)?.count == 10)
        #expect(course.accepts(Int.max) == nil)
    }

    @Test func `is whole when all bytes came before the connection broke`() throws {
        var course = try course()
        _ = course.answered(whole)
        #expect(course.accepts(1000)?.count == 1000)
        #expect(course.connectionEnded(broken).last == .seal)
    }

    @Test(
        arguments: [
            ("http://example.org/x", "redirects from https to http"),
            ("ftp://example.org/x", "of the kind ftp:"),
            ("file:///etc/passwd", "cannot be understood"), ("data:,x", "cannot be understood"),
            ("http://", "cannot be understood"),
        ]
    )
    func `follows no redirect to`(location: String, message: String) throws {
        var course = try course()
        _ = course.answered(answer(302) { $0.location = location })
        _ = course.connectionEnded(.complete)
        guard case .closing(let error) = course.phase else {
            Issue.record("the phase is \(course.phase)")
            return
        }
        #expect(error.code == .redirect)
        #expect(error.message.contains(message))
    }

    @Test func `gives credentials to no other host, not even on the way back`() throws {
        var course = try course()
        _ = course.answered(answer(302) { $0.location = "/other" })
        _ = course.connectionEnded(.complete)
        #expect(course.request.sendsCredentials)
        _ = course.answered(answer(302) { $0.location = "https://example.com/" })
        _ = course.connectionEnded(.complete)
        #expect(!course.request.sendsCredentials)
        _ = course.answered(answer(302) { $0.location = "https://example.org/" })
        _ = course.connectionEnded(.complete)
        #expect(!course.request.sendsCredentials)
    }

    private func part(from: Int64) -> Answer {
        answer(206) { answer in
            answer.etag = "\"v1\""
            answer.range = .part(first: from, last: 999, total: 1000)
        }
    }
}

@Suite struct `A download that is held` {
    @Test func `keeps its connection for a while, then gives it up`() throws {
        var course = try course()
        _ = course.answered(whole)
        #expect(course.accepts(10)?.count == 10)
        #expect(course.hold() == [.pause, .saveHeld(true), .startTimer(.seconds(20)), .tell(.held(reason: nil))])
        #expect(course.hold() == [])
        #expect(course.timerFired() == [.drop, .sync])
        #expect(course.phase == .resting)
        #expect(
            course.release() == [
                .saveHeld(false), .tell(.released),
                .connect(.init(address: course.origin, from: 10, validator: "\"v1\"")),
            ]
        )
    }

    @Test func `goes on by its connection when it is released soon`() throws {
        var course = try course()
        _ = course.answered(whole)
        _ = course.hold()
        #expect(course.release() == [.saveHeld(false), .stopTimer, .tell(.released), .unpause])
        #expect(course.release() == [])
        #expect(course.timerFired() == [])
    }

    @Test func `gives up a request without an answer at once`() throws {
        var course = try course()
        #expect(course.hold() == [.drop, .saveHeld(true), .tell(.held(reason: nil))])
        #expect(course.phase == .resting)
    }

    @Test func `waits for no retry`() throws {
        var course = try course()
        _ = course.connectionEnded(broken)
        #expect(course.hold() == [.stopTimer, .saveHeld(true), .tell(.held(reason: nil))])
        #expect(course.timerFired() == [])
    }

    @Test func `counts no failure, and is not finished, until it is released`() throws {
        for ending in [broken, .complete] {
            var course = try course()
            _ = course.answered(whole)
            #expect(course.accepts(1000)?.count == 1000)
            _ = course.hold()
            #expect(course.connectionEnded(ending) == [.stopTimer, .sync])
            #expect(course.attempts == 0)
            #expect(course.release().last == .seal)
        }
    }

    @Test func `stays held in another process, unless it was released already`() throws {
        let origin = try #require(WebAddress("http://example.org/"))
        var course = DownloadCourse(origin: origin, limits: .init(), startsHeld: false)
        _ = course.begin()
        #expect(course.opened(.init(wasHeld: true)) == [.tell(.held(reason: nil))])
        #expect(course.phase == .resting)

        course = DownloadCourse(origin: origin, limits: .init(), startsHeld: false)
        _ = course.begin()
        _ = course.release()
        #expect(course.opened(.init(wasHeld: true)) == [.saveHeld(false), .connect(.init(address: origin))])
    }

    @Test func `can be cancelled in every phase`() throws {
        let end: [DownloadCourse.Step] = [.drop, .stopTimer, .close(keepsPartial: false)]
        var connecting = try course()
        #expect(connecting.cancel(keepsPartial: false) == end)
        #expect(connecting.closed() == [.tell(.failed(.cancelled))])
        #expect(connecting.cancel(keepsPartial: false) == [])

        var receiving = try course()
        _ = receiving.answered(whole)
        #expect(receiving.cancel(keepsPartial: false) == end)

        var resting = try course()
        _ = resting.hold()
        #expect(resting.cancel(keepsPartial: false) == end)

        var waiting = try course()
        _ = waiting.connectionEnded(broken)
        #expect(waiting.cancel(keepsPartial: false) == end)
        #expect(waiting.timerFired() == [])

        var opening = DownloadCourse(origin: waiting.origin, limits: .init(), startsHeld: false)
        #expect(opening.cancel(keepsPartial: true) == [])
        #expect(opening.opened(.init()) == [.drop, .stopTimer, .close(keepsPartial: true)])

        var sealing = try course(completed: 1000)
        #expect(sealing.cancel(keepsPartial: false) == [])
    }
}

@Suite struct `The wait before a retry` {
    @Test(arguments: [
        (1, 0.0, 500), (1, 1.0, 1000), (2, 0.5, 1500), (5, 1.0, 5000), (Int.max, 1.0, 5000), (-3, 7.0, 1000),
    ])
    func `doubles, with jitter, up to its limit`(attempt: Int, random: Double, milliseconds: Int) {
        let backOff = BackOff(first: .seconds(1), limit: .seconds(5))
        #expect(backOff.delay(attempt: attempt, random: random) == .milliseconds(milliseconds))
    }
}
