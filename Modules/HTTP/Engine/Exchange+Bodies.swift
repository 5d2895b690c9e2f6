import CMicroHTTPD
import FerryBytes

extension Exchange {
    // MARK: The body of the request

    /// The next piece of the request's body; `nil` at its end.
    func nextChunk() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { reader in
                state.withLock { $0.upload.reader = reader }
                pass(to: nil)
            }
        } onCancel: {
            let reader = state.withLock { state in
                state.upload.fail(.gone)
                defer { state.upload.reader = nil }
                return state.upload.reader
            }
            reader?.resume(throwing: BodyError.gone)
        }
    }

    /// Gives what there is to a reader: this one, or the one that waits.
    func pass(to reader: Upload.Reader?) {
        let (waiting, read, resumes) = state.withLock { state -> (Upload.Reader?, Upload.Read, Bool) in
            guard let waiting = reader ?? state.upload.reader else { return (nil, .wait, false) }
            state.upload.reader = nil
            let read = state.upload.read()
            switch read {
            case .wait:
                state.upload.reader = waiting
                return (nil, read, false)
            // Only a full buffer makes a connection wait while its body is due.
            case .chunk: return (waiting, read, state.phase == .receiving && !state.upload.isOver && resume(&state))
            case .end, .failed: return (waiting, read, false)
            }
        }
        if resumes { resumeConnection() }
        switch read {
        case .chunk(let chunk): waiting?.resume(returning: chunk)
        case .end: waiting?.resume(returning: nil)
        case .failed(let error): waiting?.resume(throwing: error)
        case .wait: break
        }
    }

    // MARK: A stream as the answer

    /// Begins to write a stream, in a task.
    func startStream(_ source: @escaping @Sendable (BodyWriter) async throws -> Void) {
        let task = Task { [self] in
            do {
                try await source(BodyWriter(exchange: self))
                end(isFailed: false)
            } catch {
                end(isFailed: true)
            }
        }
        let isGone = state.withLock { state in
            if !state.isGone { state.task = task }
            return state.isGone
        }
        if isGone { task.cancel() }
    }

    /// Takes what is to be sent; waits for the client where it is far behind.
    func write(_ bytes: [UInt8]) async throws {
        let (isOver, waits, resumes) = state.withLock { state -> (Bool, Bool, Bool) in
            if state.isGone || state.outflow.isEnded { return (true, false, false) }
            guard !bytes.isEmpty else { return (false, false, false) }
            state.outflow.append(bytes)
            return (false, state.outflow.count > core.limits.streamBuffer, resume(&state))
        }
        if resumes { resumeConnection() }
        if isOver { throw CancellationError() }
        guard waits else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (writer: Outflow.Writer) in
                let (isOver, waits) = state.withLock { state -> (Bool, Bool) in
                    if state.isGone || state.outflow.isEnded || Task.isCancelled { return (true, false) }
                    guard state.outflow.count > core.limits.streamBuffer else { return (false, false) }
                    state.outflow.writer = writer
                    return (false, true)
                }
                if isOver {
                    writer.resume(throwing: CancellationError())
                } else if !waits {
                    writer.resume()
                }
            }
        } onCancel: {
            let writer = state.withLock { state in
                defer { state.outflow.writer = nil }
                return state.outflow.writer
            }
            writer?.resume(throwing: CancellationError())
        }
    }

    /// Moves what was written into the library's buffer; suspends the connection where there is nothing.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        let (count, writer) = state.withLock { state -> (Int, Outflow.Writer?) in
            if state.isGone { return (ferry_mhd_failure, nil) }
            let count = state.outflow.take(into: buffer)
            if count > 0 {
                guard state.outflow.count <= core.limits.streamBuffer / 2 else { return (count, nil) }
                defer { state.outflow.writer = nil }
                return (count, state.outflow.writer)
            }
            if state.outflow.isEnded { return (state.outflow.isFailed ? ferry_mhd_failure : ferry_mhd_end, nil) }
            guard !core.isStopping, suspend(&state) else { return (ferry_mhd_end, nil) }
            return (0, nil)
        }
        writer?.resume()
        return count
    }

    /// Ends the stream for the client as if all were said, because the server stops; leaves every other answer alone.
    func endStream() {
        let isStream = state.withLock { $0.phase == .answered }
        guard isStream else { return }
        end(isFailed: false)
        let task = state.withLock { $0.task }
        task?.cancel()
    }

    private func end(isFailed: Bool) {
        let (writer, resumes) = state.withLock { state in
            state.outflow.end(isFailed: isFailed)
            defer { state.outflow.writer = nil }
            return (state.outflow.writer, resume(&state))
        }
        writer?.resume(throwing: CancellationError())
        if resumes { resumeConnection() }
    }
}
