import FerryWeb

// Work on the disk: what may take its time runs on threads of its own.
extension WebDownload {
    func open() {
        let (id, request, loop) = (id, request, loop)
        let sources = course.origins.map(\.url)
        BackgroundThread.run {
            let result = Result { () throws(DownloadError) in
                try checkDestination(request.destination)
                let (file, found) = try PartialFile.claim(
                    in: loop.configuration.stateFolder,
                    sources: sources,
                    destination: request.destination,
                    expectedLength: request.expectedLength,
                    named: request.partialName
                )
                return OpenedPartial(file: file, found: found)
            }
            loop.send(.disk(id, .opened(result)))
        }
    }

    func seal() {
        guard let partial else { return }
        let (id, request, loop, source) = (id, request, loop, course.origins[course.source].shown)
        BackgroundThread.run {
            let result = Result { () throws(DownloadError) in
                try partial.seal(
                    as: request.destination,
                    expectedLength: request.expectedLength,
                    sha256: request.sha256,
                    source: source
                )
            }
            loop.send(.disk(id, .sealed(result)))
        }
    }

    func close(_ keepsPartial: Bool) {
        guard let partial else { return }
        let (id, loop) = (id, loop)
        BackgroundThread.run {
            partial.letGo(keeping: keepsPartial)
            loop.send(.disk(id, .closed))
        }
    }

    /// Forces to the disk what is there, beside the transfer.
    func sync() {
        guard let partial else { return }
        synced = (course.completedBytes, loop.elapsed())
        BackgroundThread.run {
            // What it could not force there is not recorded either; if the disk is broken, writing will say so.
            try? partial.sync()
        }
    }

    /// Whether it is worth to try again on a disk that was full.
    var hasRoom: Bool {
        // Of a file whose length nobody knows, this much more should fit at least.
        (try? checkRoom(unknown: 64 << 10)) != nil
    }

    /// Refuses to go on where the rest has no room, of which `unknown` bytes are assumed where nobody knows the length.
    func checkRoom(unknown: Int64 = 0) throws(DownloadError) {
        guard let partial else { return }
        let total = course.totalBytes ?? course.completedBytes + unknown
        try FerryDownload.checkRoom(
            for: total,
            there: course.completedBytes,
            spare: loop.configuration.spareBytes,
            partial: partial.path,
            destination: request.destination
        )
    }

    /// Holds the download where others have filled the disk up to the room that is to stay free.
    func watchRoom() {
        guard let partial, let free = freeBytes(at: partial.path), free < loop.configuration.spareBytes else { return }
        let error = DownloadError(
            .diskFull,
            "\(partial.path): only \(free) bytes are free on its disk, and \(loop.configuration.spareBytes) are to stay free.",
            remedy: "Make room on the disk; what has arrived is kept."
        )
        take(course.holdForRoom(error))
    }
}

extension DownloadCourse.Limits {
    /// What this request and this configuration say.
    init(_ request: DownloadRequest, _ configuration: DownloadConfiguration) {
        self.init(
            expectedLength: request.expectedLength,
            hasChecksum: request.sha256 != nil,
            acceptsWebPages: request.acceptsWebPages,
            retries: configuration.retries,
            backOff: configuration.backOff,
            retryAfterLimit: configuration.retryAfterLimit,
            pauseLimit: configuration.pauseLimit,
            maxRedirects: configuration.maxRedirects,
            lengthLimit: configuration.lengthLimit,
            connections: request.connections ?? configuration.connections,
            minimumPiece: max(1, configuration.minimumPiece),
            holdsOnFullDisk: configuration.holdsOnFullDisk,
            roomInterval: configuration.roomInterval
        )
    }
}
