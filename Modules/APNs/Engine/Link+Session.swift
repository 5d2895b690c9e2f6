import CNghttp2
import FerryBytes

extension Link {
    func makeSession() -> OpaquePointer? {
        var callbacks: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else { return nil }
        defer { nghttp2_session_callbacks_del(callbacks) }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, frame, name, length, value, size, _, link in
            guard let link, let frame, let name, let value else { return 0 }
            return Link.of(link).received(
                frame.pointee.hd.stream_id,
                UnsafeBufferPointer(start: name, count: length),
                UnsafeBufferPointer(start: value, count: size)
            )
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, link in
            guard let link else { return 0 }
            return Link.of(link).received(stream, UnsafeBufferPointer(start: bytes, count: count))
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, link in
            guard let link, let frame else { return 0 }
            if frame.pointee.hd.type == ferry_frame_goaway { Link.of(link).receivedGoaway() }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, link in
            guard let link else { return 0 }
            Link.of(link).streamClosed(stream, code)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, _, link in
            guard let link, let frame else { return 0 }
            if frame.pointee.hd.type == ferry_frame_headers { Link.of(link).notSent(frame.pointee.hd.stream_id) }
            return 0
        }
        var session: OpaquePointer?
        guard nghttp2_session_client_new(&session, callbacks, Unmanaged.passUnretained(self).toOpaque()) == 0 else {
            return nil
        }
        let settings = [
            nghttp2_settings_entry(settings_id: ferry_settings_enable_push, value: 0),
            nghttp2_settings_entry(settings_id: ferry_settings_max_header_list, value: UInt32(Self.headLimit)),
        ]
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
        return session
    }

    private static func of(_ pointer: UnsafeMutableRawPointer) -> Link {
        Unmanaged<Link>.fromOpaque(pointer).takeUnretainedValue()
    }

    static let readPayload: nghttp2_data_source_read_callback = { _, _, buffer, length, flags, source, _ in
        guard let pointer = source?.pointee.ptr, let buffer, let flags else { return 0 }
        let push = Unmanaged<Push>.fromOpaque(pointer).takeUnretainedValue()
        let count = min(length, push.request.payload.count - push.payloadOffset)
        push.request.payload.withUnsafeBufferPointer { payload in
            if let base = payload.baseAddress { buffer.update(from: base + push.payloadOffset, count: count) }
        }
        push.payloadOffset += count
        if push.payloadOffset == push.request.payload.count { flags.pointee |= ferry_data_end }
        return count
    }

    private func push(of stream: Int32) -> Push? {
        if let lastFound, lastFound.id == stream { return lastFound.push }
        guard let push = streams[stream] else { return nil }
        lastFound = (stream, push)
        return push
    }

    private func received(
        _ stream: Int32,
        _ name: UnsafeBufferPointer<UInt8>,
        _ value: UnsafeBufferPointer<UInt8>
    ) -> Int32 {
        guard let push = push(of: stream) else { return 0 }
        push.headBytes += name.count + value.count + 32
        guard push.headBytes <= Self.headLimit else {
            return Int32(ferry_error_temporal)
        }
        // Told apart by their length first: this is done for every field of every answer.
        switch name.count {
        case 7 where name[0] == UInt8(ascii: ":"):
            push.status = value.count == 3 ? value.reduce(0) { $0 * 10 + Int($1) - 48 } : 0
        case 11 where value.count <= 64 && name.elementsEqual("retry-after".utf8):
            push.retryAfter = String(decoding: value, as: UTF8.self)
        case 14 where value.count <= 64 && name.elementsEqual("apns-unique-id".utf8):
            push.uniqueID = String(decoding: value, as: UTF8.self).printable
        default: break
        }
        return 0
    }

    private func received(_ stream: Int32, _ bytes: UnsafeBufferPointer<UInt8>) -> Int32 {
        guard let push = push(of: stream) else { return 0 }
        push.bodyBytes += bytes.count
        push.body += bytes.prefix(Self.bodyKept - push.body.count)
        if push.bodyBytes > Self.bodyLimit, let session {
            nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, ferry_code_cancel)
        }
        return 0
    }

    private func receivedGoaway() {
        isDraining = true
        goaways += 1
    }

    private func streamClosed(_ stream: Int32, _ code: UInt32) {
        guard let push = streams.remove(stream) else { return }
        lastFound = nil
        // A status is an answer, however the stream was closed: at most the reason is cut short.
        if push.status >= 200 {
            hasAnswered = true
            ends.append((push, .answered))
        } else if code == ferry_code_refused {
            ends.append((push, .notProcessed))
        } else {
            ends.append((push, .broken(code)))
        }
    }

    private func notSent(_ stream: Int32) {
        guard let push = streams.remove(stream) else { return }
        lastFound = nil
        isDraining = true
        ends.append((push, .notProcessed))
    }
}
