import FerryAppBundle
import FerryCatalog

extension FuzzTarget {
    /// What a source may ask for here: little, so that a fuzzer reaches the limits.
    private static let sourceLimits = {
        var limits = SourceLimits()
        limits.maximumApps = 8
        limits.maximumVersions = 16
        limits.maximumNameBytes = 200
        limits.maximumTextBytes = 400
        limits.maximumListCount = 5
        limits.maximumProblems = 20
        return limits
    }()

    @Sendable static func source(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        if let url = try? SourceLink.url(text) {
            try expect((try? SourceLink.url(url)) == url, "the address of a link is an address")
        }
        if let book = try? SourceBook(json: bytes, path: "sources.json") {
            try expect(
                (try? SourceBook(json: book.json, path: "")) == book,
                "a book that was written is read as it was"
            )
        }
        let url = "https://example.com/a/b.json"
        guard let source = try? AppSource(json: bytes, place: "source", url: url, limits: sourceLimits) else { return }
        try expect(source.apps.count <= sourceLimits.maximumApps, "there are no more apps than the limit")
        try expect(source.problems.count <= sourceLimits.maximumProblems, "no more problems are kept than the limit")
        let count = source.apps.reduce(0) { $0 + $1.versions.count }
        try expect(count <= sourceLimits.maximumVersions, "there are no more versions than the limit")
        for problem in source.problems {
            try expect(!problem.description.unicodeScalars.contains { $0.value < 0x20 }, "a problem is one line")
        }
        for app in source.apps {
            try expect(!app.versions.isEmpty && !app.identifier.isEmpty, "an app has a version and an identifier")
            try expect(app.screenshots.count <= sourceLimits.maximumListCount, "no more pictures than the limit")
            for version in app.versions {
                try expect((version.byteCount ?? 1) > 0, "a size is positive")
                try expect((version.sha256?.count ?? 32) == 32, "a checksum has its bytes")
                try expect(
                    SourceLink.isMeant(by: version.downloadURL),
                    "an archive is on the web: \(version.downloadURL)"
                )
            }
            try choose(app, in: source)
        }
    }

    /// What is chosen is what was asked for, and runs.
    private static func choose(_ app: AppSource.App, in source: AppSource) throws {
        for system in [nil, SystemVersion("16.4")] {
            guard let choice = try? AppChoice(app.identifier),
                let chosen = try? source.choose(choice, for: system, in: "source")
            else { continue }
            try expect(
                chosen.app.identifier == choice.app || chosen.app.name.lowercased() == choice.app.lowercased(),
                "the app is the one"
            )
            try expect(chosen.version.runs(on: system), "what was chosen runs")
            let published = PublishedArchive(chosen)
            let facts = ArchiveFacts(
                identifier: published.identifier,
                version: published.version,
                build: published.build,
                byteCount: published.byteCount ?? 1,
                sha256: published.sha256 ?? []
            )
            try expect(published.mismatches(with: facts).isEmpty, "an archive as published fits")
        }
    }
}
