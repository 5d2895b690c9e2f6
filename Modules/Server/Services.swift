package import FerryActivity
package import FerryCodeSignature
package import FerryPipeline
package import FerryRecord
package import FerrySigning
package import FerryWebReporter

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// An install that somebody wants of the server.
package struct WantedInstall: Sendable, Hashable {
    /// Where the app comes from.
    package enum Origin: Sendable, Hashable {
        /// An http or https address.
        case url(String)
        /// An app of a source that the server knows by name; `version` is `nil` for the newest.
        case app(String, source: String, version: String?)
        /// An archive that was sent before.
        case upload(path: String)
    }

    /// Where it comes from.
    package var origin: Origin
    /// What to call it; `nil` for its own name.
    package var title: String?
    /// What its SHA-256 must be; `nil` for anything.
    package var sha256: [UInt8]?
}

/// What a phone's app reports of its Live Activity.
package enum IslandReport: Sendable, Hashable {
    /// The token for starts, in hexadecimal digits.
    case startToken(String)
    /// An activity's own token.
    case updateToken(activity: String, token: String)
    /// The number of the state that the widget drew last.
    case seen(Int)
}

/// A link by which a phone installs an app over the air.
package struct InstallLink: Sendable, Hashable {
    /// Its address, which is a secret.
    package let url: String
    /// When it ends.
    package let expiresAt: Date

    /// A link.
    package init(url: String, expiresAt: Date) {
        self.url = url
        self.expiresAt = expiresAt
    }
}

/// Links of installs, where the server makes any.
package struct LinkServices: Sendable {
    /// The link of an install; `nil` where it has none. Called often: it must not wait.
    package var link: @Sendable (InstallID) -> InstallLink?
    /// Makes a new one for so many seconds, in the place of the old; `nil` for an install without an app to offer.
    package var make: @Sendable (InstallID, Int) async throws -> InstallLink?
    /// Ends a link; gives whether there was one.
    package var revoke: @Sendable (InstallID) async throws -> Bool
    /// The app reports that it runs; gives whether that install is known.
    package var installed: @Sendable (InstallID) async throws -> Bool

    /// These.
    package init(
        link: @escaping @Sendable (InstallID) -> InstallLink?,
        make: @escaping @Sendable (InstallID, Int) async throws -> InstallLink?,
        revoke: @escaping @Sendable (InstallID) async throws -> Bool,
        installed: @escaping @Sendable (InstallID) async throws -> Bool
    ) {
        self.link = link
        self.make = make
        self.revoke = revoke
        self.installed = installed
    }

    /// No links at all.
    package static let none = LinkServices(
        link: { _ in nil },
        make: { _, _ in nil },
        revoke: { _ in false },
        installed: { _ in false }
    )
}

/// What the server does its work with, and what only who runs it knows.
package struct Services: Sendable {
    /// Ferry's version.
    package var version: String
    /// Where apps go, as on the command line.
    package var target: String
    /// Whether they are signed on the way.
    package var signs: Bool
    /// Every install of this process.
    package var center: ActivityCenter
    /// What tells viewers; attached to ``center`` already.
    package var web: WebReporter
    /// What carries installs.
    package var pipeline: InstallPipeline
    /// The installs of this machine; `nil` for those of this process alone.
    package var record: (any InstallRecord)?
    /// The files of recorded installs.
    package var files: InstallFiles?
    /// Makes of a wish what the pipeline takes.
    package var request: @Sendable (WantedInstall) async throws -> InstallRequest
    /// Makes it anew for an install of the record.
    package var recorded: @Sendable (RecordedInstall) async throws -> InstallRequest
    /// What signing would change in an archive; `nil` where nothing is signed.
    package var preview: @Sendable (_ path: String) async throws -> SigningPreview?
    /// The faults of an archive.
    package var verify: @Sendable (_ path: String) async throws -> [Fault]
    /// The names of the sources.
    package var sources: @Sendable () throws -> [String]
    /// The apps of a source that fit a search, as JSON: `{"apps":[…],"problems":[…]}`; `nil` where it has no such name.
    package var apps: @Sendable (_ source: String, _ search: String) async throws -> String?
    /// Takes what a phone reports; gives whether there is an island to report to.
    package var island: @Sendable (IslandReport) throws -> Bool
    /// Links.
    package var links: LinkServices
    /// The date.
    package var now: @Sendable () -> Date
    /// What is waited by.
    package var clock: any Clock<Duration>

    /// A server of one process's installs, which knows no sources, islands and links.
    package init(
        version: String,
        target: String,
        signs: Bool,
        center: ActivityCenter,
        web: WebReporter,
        pipeline: InstallPipeline,
        request: @escaping @Sendable (WantedInstall) async throws -> InstallRequest
    ) {
        self.version = version
        self.target = target
        self.signs = signs
        self.center = center
        self.web = web
        self.pipeline = pipeline
        self.request = request
        recorded = { install in throw RecordError(.unknown, "\(install.id): it cannot be begun anew here.") }
        preview = { _ in nil }
        verify = { _ in [] }
        sources = { [] }
        apps = { _, _ in nil }
        island = { _ in false }
        links = .none
        now = { Date() }
        clock = ContinuousClock()
    }
}
