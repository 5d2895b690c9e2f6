/// The body of a request, piece by piece as it comes; for one reader.
///
/// A reader that takes its time makes the client wait: `ServerLimits.bodyBuffer` bytes are kept, no more.
package struct RequestBody: AsyncSequence, Sendable {
    package typealias Element = [UInt8]

    let exchange: Exchange?
    /// The length that the client said; `nil` where it said none.
    package let expectedLength: Int?

    /// Gives the pieces.
    package struct AsyncIterator: AsyncIteratorProtocol {
        let exchange: Exchange?

        /// The next piece, never an empty one; `nil` at the end. Throws ``BodyError``.
        package func next() async throws -> [UInt8]? {
            try await exchange?.nextChunk()
        }
    }

    package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(exchange: exchange) }

    /// All of it; throws ``BodyError``.
    package func bytes() async throws -> [UInt8] {
        var all: [UInt8] = []
        for try await chunk in self { all += chunk }
        return all
    }
}

/// Why the rest of a body does not come.
package enum BodyError: Error, Sendable, Hashable {
    /// It is longer than is allowed; the client is told.
    case tooLarge
    /// The client went away, or the server stops.
    case gone
}
