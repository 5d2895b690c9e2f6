import FerryBytes

/// The links of a server, kept across its restarts in `links.json`, with their archives and icons beside it.
///
/// Its folder is for this user alone: whoever reads the file may fetch every app.
package final class LinkBook: Sendable {
    /// The most links that are kept; the oldest go first.
    package static let maximumLinks = 10_000
    /// How long a link that is over is remembered, so that its page says so, in seconds.
    package static let memory: Int64 = 7 * 86_400

    private struct Entry {
        var link: AirLink
        var sent = SentBytes()
        var watchers: [Int: AsyncStream<LinkState>.Continuation] = [:]
        /// Whether its files were removed, which is done once.
        var isCleared = false

        /// Ends the streams of states; not under the lock, which each of them takes as it ends.
        func endWatching() {
            for watcher in watchers.values { watcher.finish() }
        }
    }

    private struct Shelf {
        /// By the digests of their secrets: how long it takes to find none tells nothing of those that there are.
        private var byDigest: [SecretDigest: Entry] = [:]
        /// The newest link of each install.
        var newest: [String: String] = [:]
        var lastWatcher = 0
        var isStopping = false

        subscript(secret: String) -> Entry? {
            get { byDigest[SecretDigest(secret)] }
            set { byDigest[SecretDigest(secret)] = newValue }
        }

        var count: Int { byDigest.count }
        var entries: [Entry] { Array(byDigest.values) }
        var links: [AirLink] { byDigest.values.map(\.link) }

        mutating func forget(_ link: AirLink) {
            self[link.secret] = nil
            if let install = link.install, newest[install] == link.secret { newest[install] = nil }
        }
    }

    /// Where all of it lies.
    package let folder: String
    private let now: @Sendable () -> Int64
    private let shelf: Guarded<Shelf>
    private let file: LinkFile

    /// Opens the book in a folder, which is made where it is missing; throws ``FileFailure``.
    ///
    /// - Parameter now: The date, in seconds since 1970.
    package init(folder: String, now: @escaping @Sendable () -> Int64) throws {
        self.folder = folder
        self.now = now
        try makeFolders(folder)
        var shelf = Shelf()
        file = LinkFile(folder + "/links.json")
        for link in try file.read().suffix(Self.maximumLinks) {
            var entry = Entry(link: link)
            if link.step == .sending { entry.link.step = .asked }
            shelf[link.secret] = entry
            if let install = link.install { shelf.newest[install] = link.secret }
        }
        self.shelf = Guarded(shelf)
    }

    // MARK: Looking

    /// The link of that secret, open or not.
    package subscript(secret: String) -> AirLink? { shelf.withLock { $0[secret]?.link } }

    /// The newest link of an install, if it is open.
    package func link(of install: String) -> AirLink? {
        let now = now()
        return shelf.withLock { shelf in
            guard let link = shelf.newest[install].flatMap({ shelf[$0]?.link }), link.isOpen(at: now) else {
                return nil
            }
            return link
        }
    }

    /// Whether a link is good for anything now.
    package func isOpen(_ link: AirLink) -> Bool { link.isOpen(at: now()) }

    /// How far a link is; `nil` where there is none.
    package func state(of secret: String) -> LinkState? {
        shelf.withLock { shelf in shelf[secret].map(Self.state) }
    }

    /// The path of a link's archive.
    package func archive(of link: AirLink) -> String { folder + "/" + link.files + ".ipa" }

    /// The path of a link's icon with `side` pixels.
    package func icon(of link: AirLink, side: Int) -> String { folder + "/" + link.files + "-\(side).png" }

    /// Every state of a link from now on, the present one first; for one reader. Ends when the link does.
    package func states(of secret: String) -> AsyncStream<LinkState> {
        let (states, sink) = AsyncStream.makeStream(of: LinkState.self, bufferingPolicy: .bufferingNewest(1))
        let now = now()
        let number = shelf.withLock { shelf -> Int? in
            guard let entry = shelf[secret], entry.link.isOpen(at: now) else { return nil }
            shelf.lastWatcher += 1
            let number = shelf.lastWatcher
            shelf[secret]?.watchers[number] = sink
            sink.yield(Self.state(entry))
            return number
        }
        guard let number else {
            sink.finish()
            return states
        }
        sink.onTermination = { [weak self] _ in
            self?.shelf.withLock { shelf in _ = shelf[secret]?.watchers.removeValue(forKey: number) }
        }
        return states
    }

    /// How many follow the states of a link.
    func watcherCount(of secret: String) -> Int { shelf.withLock { $0[secret]?.watchers.count ?? 0 } }

    // MARK: Changing

    /// Takes in an app: hard-links or copies its archive, and writes its icons; throws ``FileFailure``.
    package func add(
        _ app: AirApp,
        install: String?,
        seconds: Int64
    ) throws -> AirLink {
        sweep()
        let now = now()
        let link = AirLink(
            secret: AirLink.newSecret(),
            install: install,
            title: app.title,
            identifier: app.identifier,
            version: app.version,
            byteCount: app.byteCount,
            madeAt: now,
            expiresAt: now + seconds,
            files: AirLink.newSecret()
        )
        try takeFile(app.path, to: archive(of: link))
        do {
            try WholeFile.write(app.smallIcon, to: icon(of: link, side: 57))
            try WholeFile.write(app.largeIcon, to: icon(of: link, side: 512))
            try keep(link)
        } catch {
            removeFiles(of: link)
            throw error
        }
        return link
    }

    /// Makes a new link in the place of the open one of an install, with the same files; `nil` where there is none.
    package func renew(_ install: String, seconds: Int64) throws -> AirLink? {
        guard let old = link(of: install) else { return nil }
        let now = now()
        let link = AirLink(
            secret: AirLink.newSecret(),
            install: install,
            title: old.title,
            identifier: old.identifier,
            version: old.version,
            byteCount: old.byteCount,
            madeAt: now,
            expiresAt: now + seconds,
            files: AirLink.newSecret()
        )
        do {
            try takeFile(archive(of: old), to: archive(of: link))
            for side in [57, 512] { try takeFile(icon(of: old, side: side), to: icon(of: link, side: side)) }
            try keep(link)
        } catch {
            removeFiles(of: link)
            throw error
        }
        revoke(old.secret)
        return link
    }

    private func keep(_ link: AirLink) throws {
        shelf.withLock { shelf in
            shelf[link.secret] = Entry(link: link)
            if let install = link.install { shelf.newest[install] = link.secret }
        }
        try save()
    }

    /// Ends a link before its time; gives whether it was open.
    @discardableResult
    package func revoke(_ secret: String) -> Bool {
        let now = now()
        let entry = shelf.withLock { shelf -> Entry? in
            guard let entry = shelf[secret], entry.link.isOpen(at: now) else { return nil }
            shelf[secret]?.link.isRevoked = true
            shelf[secret]?.isCleared = true
            return entry
        }
        guard let entry else { return false }
        entry.endWatching()
        removeFiles(of: entry.link)
        try? save()
        return true
    }

    /// A phone asked for the manifest.
    package func asked(_ secret: String) {
        change(secret) { entry in
            if entry.link.step == .waiting { entry.link.step = .asked }
        }
    }

    /// Some bytes of the archive were handed to the network.
    package func sent(_ range: Range<Int>, of secret: String) {
        change(secret) { entry in
            entry.sent.add(range)
            guard entry.link.step != .installed, entry.link.step != .delivered else { return }
            entry.link.step = entry.sent.count >= entry.link.byteCount ? .delivered : .sending
        }
    }

    /// The app reports that it runs; gives whether that is news.
    @discardableResult
    package func installed(_ secret: String) -> Bool {
        change(secret) { entry in entry.link.step = .installed }
    }

    /// From now on an install that ends early leaves its link, because it goes on with the next start. All that is known
    /// is written when this returns.
    package func beginStop() {
        shelf.withLock { $0.isStopping = true }
        file.writeDue(links)
    }

    /// Whether the server is about to stop.
    package var isStopping: Bool { shelf.withLock { $0.isStopping } }

    /// Removes the files of links that are over, and forgets those that have been so for a while.
    package func sweep() {
        let now = now()
        let over = shelf.withLock { shelf -> [Entry] in
            var over: [Entry] = []
            for entry in shelf.entries where !entry.link.isOpen(at: now) {
                if !entry.isCleared { over.append(entry) }
                shelf[entry.link.secret]?.isCleared = true
                if now - entry.link.expiresAt > Self.memory { shelf.forget(entry.link) }
            }
            let surplus = shelf.count - Self.maximumLinks + 1
            guard surplus > 0 else { return over }
            let oldest = shelf.entries.sorted { $0.link.madeAt < $1.link.madeAt }.prefix(surplus)
            for entry in oldest { shelf.forget(entry.link) }
            return over + oldest.filter { !$0.isCleared }
        }
        for entry in over {
            entry.endWatching()
            removeFiles(of: entry.link)
        }
    }

    @discardableResult
    private func change(_ secret: String, _ body: (inout Entry) -> Void) -> Bool {
        let isNews = shelf.withLock { shelf in
            guard var entry = shelf[secret] else { return false }
            let before = entry.link.step
            body(&entry)
            shelf[secret] = entry
            let state = Self.state(entry)
            for watcher in entry.watchers.values { watcher.yield(state) }
            return entry.link.step != before
        }
        if isNews { file.writeSoon(links) }
        return isNews
    }

    private static func state(_ entry: Entry) -> LinkState {
        LinkState(step: entry.link.step, sentBytes: entry.sent.count, byteCount: entry.link.byteCount)
    }

    private var links: @Sendable () -> [AirLink] { { [self] in shelf.withLock { $0.links } } }

    private func save() throws { try file.write(links) }

    private func removeFiles(of link: AirLink) {
        removeFile(archive(of: link))
        for side in [57, 512] { removeFile(icon(of: link, side: side)) }
    }
}

/// How far a phone is with an app, as far as a server can know.
package struct LinkState: Sendable, Hashable {
    /// The step.
    package let step: AirLink.Step
    /// How many bytes of the archive were sent, each counted once.
    package let sentBytes: Int
    /// How many there are.
    package let byteCount: Int

    /// How much was sent, in whole percents, rounded down.
    package var percent: Int { byteCount > 0 ? sentBytes * 100 / byteCount : 100 }
}
