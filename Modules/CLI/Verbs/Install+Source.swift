import FerryBytes
import FerryCatalog
import FerryPipeline
import FerrySigning

extension OptionGroup {
    static let source = "From a published list"
}

extension Option {
    /// `--source SOURCE`: the list that apps are taken from.
    static let source = Option(
        name: "--source",
        value: "SOURCE",
        kind: .fileOrURL(["json"]),
        help: "take the apps from this list: an address, a file or a name; see ferry help source"
    )

    /// `--allow-mismatch WHAT`: what a list may be wrong about.
    static let allowMismatch = Option(
        name: "--allow-mismatch",
        value: "WHAT",
        kind: .forms([
            .init(text: "version", summary: "and build"),
            .init(text: "size"),
        ]),
        count: .repeated,
        help: "install an archive though the list says another one of it, and only warn"
    )
}

extension Install {
    /// What to install for each name: the archive that it is, or with `--source` the app of that list.
    static func requests(
        _ names: [String],
        _ invocation: Invocation,
        _ options: SigningOptions
    ) async throws -> [InstallRequest] {
        guard let list = invocation.arguments.value("--source") else {
            for option in ["--os", "--allow-mismatch"] where invocation.arguments.isGiven(option) {
                throw UsageError(.conflictingOptions, "\(option) goes with --source.", verb: "install")
            }
            return names.map { InstallRequest(source: $0, signing: options) }
        }
        var system = try invocation.targetSystem()
        if system == nil { system = try await TargetChoice(invocation.arguments.required("--to")).system() }
        let choices = try names.map { try AppChoice($0) }
        let named = try await invocation.source(list)
        invocation.warn(of: named, problemLimit: 0)
        var tolerated: Set<PublishedArchive.Trait> = []
        for what in invocation.arguments.values("--allow-mismatch") {
            tolerated.formUnion(what == "size" ? [.size] : [.version, .build])
        }
        return try choices.map { choice in
            let chosen = try named.source.choose(choice, for: system, in: named.place)
            for text in warnings(of: chosen, from: named.place) { invocation.warn(text) }
            var request = InstallRequest(source: chosen.version.downloadURL, signing: options)
            request.title = chosen.app.name
            var published = PublishedArchive(chosen)
            published.tolerated = tolerated
            request.published = published
            return request
        }
    }

    private static func warnings(of chosen: ChosenVersion, from place: String) -> [String] {
        let (name, version) = (chosen.app.name, chosen.version)
        var warnings: [String] = []
        if let newer = chosen.passedOver.first {
            let needs = newer.minimumOS.map { ", which needs iOS \($0)" } ?? ""
            warnings.append("\(name): \(version.version) is taken instead of \(newer.version)\(needs).")
        }
        let isPlain: (String) -> Bool = { $0.lowercased().hasPrefix("http:") }
        if isPlain(version.downloadURL), version.sha256 == nil || isPlain(place) {
            let what = version.sha256 == nil ? "its list says no SHA-256" : "so does its list"
            warnings.append("\(name): it comes by plain HTTP, and \(what): anybody on the way can change it.")
        }
        return warnings
    }
}
