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
            // How phones reach this process is no matter of the install.
            case let name where ServingPlace.options.contains(where: { $0.name == name }): continue
            case Option.source.name: options[option.name] = try lastingList().map { [$0.text] }
            case Option.passwordFile.name where !isLasting(arguments.required(option.name)): continue
            // What ended with this process: without it a server says that it wants one.
            case "--header-file", "--bearer-file", "--netrc-file":
                guard isLasting(arguments.required(option.name)) else { continue }
                options[option.name] = [try lasting(arguments.required(option.name), option)]
            // A mirror is no must; one whose address has a secret in it is left out.
            case Option.mirror.name:
                let mirrors = arguments.values(option.name).map { RecordedSource($0) }.filter { !$0.isShortened }
                if !mirrors.isEmpty { options[option.name] = mirrors.map(\.text) }
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
        case "--to": return try TargetChoice(value).lasting(absolute).text
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
    /// The same in another folder and under absolute paths. `nil` where something is no plain file, whose content would have
    /// to be looked for.
    func signingFingerprint(_ options: SigningOptions) throws -> String? {
        let digester = Digester(.sha256)
        func add(_ text: String) { digester.update(Array(text.utf8) + [0]) }
        add(program.version)
        func add(contentOf file: String) -> Bool {
            guard let bytes = try? WholeFile.read(file, limit: InputFile.limit) else { return false }
            digester.update(HashAlgorithm.sha256.digest(bytes))
            return true
        }
        for option in [Option].signing where arguments.flagIfDescribed(option.name) {
            // What they lead to comes below, with what a recipe leads to.
            guard ![Option.passwordFile.name, "--inject", "--icon", "--add"].contains(option.name) else { continue }
            add(option.name)
            for value in arguments.values(option.name) {
                // As it is written down, so that it is the same when it is gone on with.
                add(try lasting(value, option))
                guard case .file = option.kind, !value.hasPrefix("pkcs11:") else { continue }
                let file = option.name == "--entitlements" ? bundleAndFile(value).file : value
                guard add(contentOf: file) else { return nil }
            }
        }
        let recipe = options.recipe
        for file in recipe.addedFiles { add(file.path) }
        for injection in recipe.injections { add("\(injection.target) \(injection.isWeak)") }
        let sources =
            [recipe.icon].compactMap(\.self) + recipe.addedFiles.map(\.source) + recipe.injections.map(\.source)
        for source in sources {
            add(source.pathParts.last ?? source)
            guard add(contentOf: source) else { return nil }
        }
        return digester.finish().hex
    }
}
