import FerryBytes
package import FerryInstalling

/// Phones that fetch apps by a link.
///
/// An install there waits for a phone, so many may be under way at once. It ends when all of the archive was sent: what a
/// phone then does is not known, unless the app reports back. Its link stays for as long as it is good, and an install
/// that goes on in another process goes on with its link.
package struct OverTheAirTarget: InstallTarget {
    /// The most installs that wait for phones at once.
    package static let maximumInstalls = 1_000

    package var name: String { "ota" }
    package var maximumInstalls: Int { Self.maximumInstalls }

    private let book: LinkBook
    private let seconds: Int64
    private let address: @Sendable (AirLink) -> String
    private let icons: @Sendable (String) -> [[UInt8]]
    private let offered: @Sendable (AirLink) -> Void

    /// Offers apps by links of this book.
    ///
    /// - Parameters:
    ///   - seconds: How long a link is good.
    ///   - address: The address of a link's page.
    ///   - icons: The files in an archive that may be its icon, the best first.
    ///   - offered: Told each link that a phone may open from now on.
    package init(
        _ book: LinkBook,
        seconds: Int64,
        address: @escaping @Sendable (AirLink) -> String,
        icons: @escaping @Sendable (String) -> [[UInt8]],
        offered: @escaping @Sendable (AirLink) -> Void = { _ in }
    ) {
        self.book = book
        self.seconds = seconds
        self.address = address
        self.icons = icons
        self.offered = offered
    }

    package func install(
        _ path: String,
        tell: @escaping @Sendable (InstallEvent) -> Void
    ) async throws(InstallError) -> InstalledApp {
        let install = InstallName.current
        let link: AirLink
        if let known = install.flatMap({ book.link(of: $0) }), FileKind.isThere(book.archive(of: known)) {
            link = known
        } else {
            link = try await offer(path, install)
        }
        offered(link)
        var current = link
        while true {
            do {
                let isInstalled = try await follow(current, tell)
                return installed(current, isInstalled)
            } catch {
                // A new link may have been made in the place of the one that was followed.
                guard error.code == .stalled, let next = install.flatMap({ book.link(of: $0) }) else { throw error }
                current = next
            }
        }
    }

    private func installed(_ link: AirLink, _ isInstalled: Bool) -> InstalledApp {
        InstalledApp(
            identifier: link.identifier,
            location: address(link),
            isUpdate: false,
            isOnlyDelivered: !isInstalled
        )
    }

    private func offer(_ path: String, _ install: String?) async throws(InstallError) -> AirLink {
        do {
            return try await onOwnThread(orElse: InstallError(.target, "There is no thread to read \(path) on.")) {
                try book.add(try AirApp(path, icons: icons), install: install, seconds: seconds)
            }
        } catch let error as InstallError {
            throw error
        } catch let error as FileFailure {
            throw InstallError(error.isFullDisk ? .room : .target, error.message, remedy: error.remedy)
        } catch {
            let explained = error as? any ExplainedError
            throw InstallError(.archive, explained?.message ?? "\(path): \(error)", remedy: explained?.remedy)
        }
    }

    /// Tells how far the phone is; returns when all was sent, with whether the app has reported.
    private func follow(
        _ link: AirLink,
        _ tell: @Sendable (InstallEvent) -> Void
    ) async throws(InstallError) -> Bool {
        var step: AirLink.Step?
        var percent = -1
        for await state in book.states(of: link.secret) {
            if state.step == .delivered || state.step == .installed { return state.step == .installed }
            if state.step != step {
                step = state.step
                tell(.step(state.step.words))
            }
            if state.step == .sending, state.percent != percent {
                percent = state.percent
                tell(.progress(completed: state.sentBytes, total: state.byteCount))
            }
        }
        if Task.isCancelled {
            // An install that is let go for the next start of the server keeps its link.
            if !book.isStopping { book.revoke(link.secret) }
            throw InstallError(
                .cancelled,
                "\(link.title): the install was cancelled before a phone had all of the app."
            )
        }
        throw InstallError(
            .stalled,
            "\(link.title): the link ended before a phone had all of the app.",
            remedy: "Install it again, and open the new link in Safari on the phone; a link may be made to last longer."
        )
    }
}

extension AirLink.Step {
    /// What people are told of it.
    package var words: String {
        switch self {
        case .waiting: "Waiting for the phone"
        case .asked: "The phone has asked"
        case .sending: "Sending"
        case .delivered: "Delivered"
        case .installed: "Installed"
        }
    }
}

private enum FileKind {
    static func isThere(_ path: String) -> Bool { (try? FileSource(path: path)) != nil }
}
