import FerryBytes
import FerryCatalog
import FerryCodeSignature
import FerryPipeline
import FerryRecord
import FerrySigning
import FoundationEssentials

extension Invocation {
    /// The options of `ferry install` that another process needs to go on; passwords are not among them.
    ///
    /// Paths are made absolute, for that process may be in another folder.
    func recordedOptions() throws -> [String: [String]] {
        var options: [String: [String]] = [:]
        for option in Install.verb.options where arguments.flagIfDescribed(option.name) {
            switch option.name {
            case Option.reporter.name, Option.json.name, Option.noRecord.name: continue
            case Option.source.name: options[option.name] = try lastingList().map { [$0.text] }
            case Option.passwordFile.name where !isLasting(arguments.required(option.name)): continue
            default: options[option.name] = try arguments.values(option.name).map { try lasting($0, option) }
            }
        }
        return options
    }

    /// A source as another process finds it; with `--source` it is an app of that list, and stays as it is.
    func lastingSource(_ source: String) throws -> String {
        if arguments.isGiven(Option.source.name) || source.contains("://") || source.hasPrefix("file:") {
            return source
        }
        return try absolute(source)
    }

    /// The list of `--source`, as another process finds it; `nil` without one.
    func lastingList() throws -> RecordedSource? {
        guard let text = arguments.value(Option.source.name) else { return nil }
        // A link's address may hold a token as any other.
        if SourceLink.isMeant(by: text) { return RecordedSource(try SourceLink.url(text)) }
        if SourceBook.isName(text), try sourceBook.read().url(named: text) != nil { return RecordedSource(text) }
        return RecordedSource(isLasting(text) ? try absolute(text) : text)
    }

    private func lasting(_ value: String, _ option: Option) throws -> String {
        switch option.name {
        case "--to": return "folder:" + (try absolute(value.dropping("folder:")))
        case "--add":
            let (path, file) = try parts(of: value, option.name, option.value ?? "")
            return path + "=" + (try absolute(file))
        case "--inject", "--entitlements":
            let (bundle, file) = bundleAndFile(value)
            return (bundle.map { $0 + "=" } ?? "") + (try absolute(file))
        default: break
        }
        switch option.kind {
        case .file, .folder: return value.hasPrefix("pkcs11:") ? value : try absolute(value)
        default: return value
        }
    }

    /// Whether a later process finds the file: standard input and `<(…)` are gone with this one.
    func isLasting(_ path: String) -> Bool {
        path != "-" && !path.hasPrefix("/dev/") && !path.hasPrefix("/proc/")
    }

    private func absolute(_ path: String) throws -> String {
        guard !path.hasPrefix("/") else { return path }
        return FileManager.default.currentDirectoryPath + "/" + path
    }

    /// Stands for all that goes into a signature: the options, and what is in the files that they name.
    ///
    /// `nil` where something is no plain file, whose content would have to be looked for.
    func signingFingerprint(_ options: SigningOptions) throws -> String? {
        let digester = Digester(.sha256)
        func add(_ text: String) { digester.update(Array(text.utf8) + [0]) }
        add(program.version)
        for option in [Option].signing where arguments.flagIfDescribed(option.name) {
            guard option.name != Option.passwordFile.name else { continue }
            add(option.name)
            for value in arguments.values(option.name) {
                add(value)
                var file: String?
                switch option.name {
                case "--inject", "--icon": continue
                case "--entitlements": file = bundleAndFile(value).file
                default: if case .file = option.kind, !value.hasPrefix("pkcs11:") { file = value }
                }
                guard let file else { continue }
                guard let bytes = try? WholeFile.read(file, limit: InputFile.limit) else { return nil }
                digester.update(HashAlgorithm.sha256.digest(bytes))
            }
        }
        let recipe = options.recipe
        let sources =
            [recipe.icon].compactMap(\.self) + recipe.addedFiles.map(\.source) + recipe.injections.map(\.source)
        for source in sources {
            add(source)
            guard let bytes = try? WholeFile.read(source, limit: InputFile.limit) else { return nil }
            digester.update(HashAlgorithm.sha256.digest(bytes))
        }
        return digester.finish().hex
    }
}
