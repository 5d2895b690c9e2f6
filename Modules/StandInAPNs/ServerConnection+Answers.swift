import CNghttp2
import FerryBytes

extension ServerConnection {
    /// Judges what is complete, and answers it.
    func judgeComplete(_ judge: inout RequestJudge) {
        guard !complete.isEmpty else { return }
        let now = core.wallSeconds()
        for stream in complete {
            if isStalled || isClosed { break }
            guard let request = requests[stream] else { continue }
            if isLeaving, stream > lastJudged {
                requests[stream] = nil
                continue
            }
            lastJudged = max(lastJudged, stream)
            count += 1
            let fault = judge.fault(request, now: now)
            answer(stream, request, fault, providerTokens: judge.tokens.count)
        }
        complete.removeAll(keepingCapacity: true)
    }

    private func answer(_ stream: Int32, _ request: IncomingRequest, _ fault: (Int, String)?, providerTokens: Int) {
        let (answer, isHeld, script) = core.state.withLock { state in
            state.ledger.requests += 1
            state.ledger.providerTokens = providerTokens
            state.ledger.mostStreams = max(state.ledger.mostStreams, requests.count)
            let answer = Self.choose(&state, request, fault)
            Self.note(&state.ledger, answer, request, core.record)
            return (answer, state.script.holdsAnswers, state.script)
        }
        if isHeld {
            held.append((stream, answer))
        } else {
            send(answer, on: stream, request)
        }
        if let every = script.goawayEvery, count.isMultiple(of: every) { sendGoaway() }
        if let mishap = script.mishap, count == mishap.after, number <= script.mishapConnections ?? .max {
            happen(mishap.what)
        }
    }

    private static func choose(
        _ state: inout StandInCore.State,
        _ request: IncomingRequest,
        _ fault: (Int, String)?
    ) -> StandInScript.Answer {
        if let fault { return StandInScript.Answer(fault.0, fault.1) }
        if !state.script.numbered.isEmpty, let answer = state.script.numbered[state.ledger.requests] { return answer }
        if !state.script.answers.isEmpty {
            let token = String(decoding: request.token, as: UTF8.self)
            if var answers = state.script.answers[token], !answers.isEmpty {
                defer { state.script.answers[token] = answers }
                return answers.removeFirst()
            }
        }
        return StandInScript.Answer(200)
    }

    private static func note(
        _ ledger: inout StandInLedger,
        _ answer: StandInScript.Answer,
        _ request: IncomingRequest,
        _ record: StandInAPNs.Record
    ) {
        if let reason = answer.reason { ledger.reasons[reason, default: 0] += 1 }
        guard answer.status == 200, answer.resetCode == nil else { return }
        ledger.delivered += 1
        guard record != .count else { return }
        let id = request.text(.id)
        ledger.ids.insert(id)
        guard record == .deliveries else { return }
        ledger.deliveries.append(
            StandInLedger.Delivery(
                token: String(decoding: request.token, as: UTF8.self),
                id: id,
                priority: request.text(.priority),
                collapseID: request.text(.collapseID),
                expiration: request.text(.expiration),
                payload: request.body
            )
        )
    }

    private func happen(_ mishap: StandInScript.Mishap) {
        switch mishap {
        case .close:
            flush()
            close()
        case .stall:
            flush()
            isStalled = true
        case .streamLimit(let limit): setStreamLimit(limit)
        case .bytes(let bytes): inject(bytes)
        }
    }

    /// Sends what was kept back.
    func releaseAnswers() {
        let answers = held
        held = []
        for (stream, answer) in answers {
            if let request = requests[stream] { send(answer, on: stream, request) }
        }
        flush()
    }

    /// Tells the client how many streams it may have open.
    func setStreamLimit(_ limit: UInt32) {
        guard let session else { return }
        let entry = [nghttp2_settings_entry(settings_id: ferry_settings_max_streams, value: limit)]
        nghttp2_submit_settings(session, 0, entry, 1)
        flush()
    }

    /// Tells the client that nothing after what was judged will be looked at.
    func sendGoaway() {
        guard let session, !isLeaving else { return }
        isLeaving = true
        core.state.withLock { $0.ledger.goaways += 1 }
        nghttp2_submit_goaway(session, 0, lastJudged, ferry_code_no_error, nil, 0)
        flush()
    }

    private func send(_ answer: StandInScript.Answer, on stream: Int32, _ request: IncomingRequest) {
        guard let session, !answer.isSilent else { return }
        requests[stream] = nil
        if let code = answer.resetCode {
            nghttp2_submit_rst_stream(session, 0, stream, code)
            return
        }
        var body = answer.body ?? []
        if answer.body == nil, let reason = answer.reason {
            let timestamp = answer.timestamp.map { #","timestamp":\#($0)"# } ?? ""
            body = Array(#"{"reason":"\#(reason)"\#(timestamp)}"#.utf8)
        }
        let fields = [(":status", String(answer.status)), ("apns-id", request.text(.id))] + answer.headers
        ResponseFields.with(fields) { fields, count in
            guard !body.isEmpty else {
                nghttp2_submit_response(session, stream, fields, count, nil)
                return
            }
            let source = AnswerSource(body)
            bodies[stream] = source
            var provider = nghttp2_data_provider(
                source: nghttp2_data_source(ptr: Unmanaged.passUnretained(source).toOpaque()),
                read_callback: { _, _, buffer, length, flags, source, _ in
                    guard let pointer = source?.pointee.ptr, let buffer, let flags else { return 0 }
                    let source = Unmanaged<AnswerSource>.fromOpaque(pointer).takeUnretainedValue()
                    let count = min(length, source.bytes.count - source.offset)
                    source.bytes.withUnsafeBufferPointer { bytes in
                        if let base = bytes.baseAddress { buffer.update(from: base + source.offset, count: count) }
                    }
                    source.offset += count
                    if source.offset == source.bytes.count { flags.pointee |= ferry_data_end }
                    return count
                }
            )
            nghttp2_submit_response(session, stream, fields, count, &provider)
        }
    }
}

// MARK: - What nghttp2 tells

extension ServerConnection {
    func makeSession(_ streamLimit: UInt32) -> OpaquePointer? {
        var callbacks: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else { return nil }
        defer { nghttp2_session_callbacks_del(callbacks) }
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, connection in
            guard let connection, let frame else { return 0 }
            ServerConnection.of(connection).requests[frame.pointee.hd.stream_id] = IncomingRequest()
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _,
            frame,
            name,
            length,
            value,
            size,
            _,
            connection in
            guard let connection, let frame, let name, let value else { return 0 }
            ServerConnection.of(connection).requests[frame.pointee.hd.stream_id]?.add(
                UnsafeBufferPointer(start: name, count: length),
                UnsafeBufferPointer(start: value, count: size)
            )
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, connection in
            guard let connection else { return 0 }
            ServerConnection.of(connection).requests[stream]?.add(UnsafeBufferPointer(start: bytes, count: count))
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, connection in
            guard let connection, let frame else { return 0 }
            ServerConnection.of(connection).received(frame)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, _, connection in
            guard let connection else { return 0 }
            ServerConnection.of(connection).requests[stream] = nil
            ServerConnection.of(connection).bodies[stream] = nil
            return 0
        }
        var options: OpaquePointer?
        guard nghttp2_option_new(&options) == 0, let options else { return nil }
        defer { nghttp2_option_del(options) }
        nghttp2_option_set_no_auto_ping_ack(options, 1)
        var session: OpaquePointer?
        let context = Unmanaged.passUnretained(self).toOpaque()
        guard nghttp2_session_server_new2(&session, callbacks, context, options) == 0 else { return nil }
        let settings = [nghttp2_settings_entry(settings_id: ferry_settings_max_streams, value: streamLimit)]
        nghttp2_submit_settings(session, 0, settings, 1)
        // Bodies come faster than a window of 64 KiB lets them.
        nghttp2_session_set_local_window_size(session, 0, 0, 16 << 20)
        return session
    }

    private static func of(_ pointer: UnsafeMutableRawPointer) -> ServerConnection {
        Unmanaged<ServerConnection>.fromOpaque(pointer).takeUnretainedValue()
    }

    private func received(_ frame: UnsafePointer<nghttp2_frame>) {
        let head = frame.pointee.hd
        switch head.type {
        case ferry_frame_headers, ferry_frame_data:
            if head.flags & ferry_flag_end_stream != 0 { complete.append(head.stream_id) }
        case ferry_frame_ping where head.flags & ferry_flag_ack == 0:
            let answers = core.state.withLock { state in
                state.ledger.pings += 1
                return state.script.answersPing
            }
            guard answers, let session else { return }
            var data = frame.pointee.ping.opaque_data
            withUnsafeBytes(of: &data) { bytes in
                _ = nghttp2_submit_ping(session, ferry_flag_ack, bytes.bindMemory(to: UInt8.self).baseAddress)
            }
        default: break
        }
    }
}

/// Header fields in the form that nghttp2 takes.
private enum ResponseFields {
    /// Gives the fields to `body`; nghttp2 copies them.
    static func with(_ fields: [(String, String)], _ body: (UnsafeMutablePointer<nghttp2_nv>, Int) -> Void) {
        var bytes: [UInt8] = [0]
        bytes.reserveCapacity(256)
        var lengths: [(Int, Int)] = []
        for (name, value) in fields {
            bytes += name.utf8
            bytes += value.utf8
            lengths.append((name.utf8.count, value.utf8.count))
        }
        bytes.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: fields.count) { list in
                var offset = 1
                for (index, (name, value)) in lengths.enumerated() {
                    list.initializeElement(
                        at: index,
                        to: nghttp2_nv(
                            name: base + offset,
                            value: base + offset + name,
                            namelen: name,
                            valuelen: value,
                            flags: 0
                        )
                    )
                    offset += name + value
                }
                if let first = list.baseAddress { body(first, fields.count) }
            }
        }
    }
}
