/// One connection of a download: which part of the file it brings, and how far it is.
struct Lane: Equatable {
    var request: DownloadCourse.Request
    /// Where the next byte belongs.
    var position: Int64
    /// Where it has to stop, because the rest is there or another lane's; `nil` where the length is unknown.
    var end: Int64?
    /// Where the body of the answer must end; `nil` where it does not say.
    var bodyEnd: Int64?
    /// What the answer led to that is not the file.
    var refusal: DownloadCourse.Refusal?
    var redirects = 0
    /// Whether the answer's head was right and the body belongs into the file.
    var isReceiving = false
    /// How many bytes this request brought.
    var broughtBytes: Int64 = 0

    init(_ request: DownloadCourse.Request) {
        self.request = request
        position = request.from
        end = request.end
    }

    /// Whether it has brought all that it should.
    var isDone: Bool { end.map { position >= $0 } ?? false }

    /// How much it has yet to bring; `nil` where nobody knows.
    var missingBytes: Int64? { end.map { max(0, $0 - position) } }
}
