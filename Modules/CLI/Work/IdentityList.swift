import FerryBytes
import FerryCodeSignature
import FerryPropertyList
import FerrySigning

/// The identities that `--identities` names, as `docs/many.md` describes them.
///
/// Each stands for options of a command line of its own, so that whatever is done for one identity is done for many.
struct IdentityList: Sendable {
    /// One of them.
    struct Entry: Sendable, Equatable {
        /// What reports and the folder of its archives are called.
        var name = ""
        /// The options that it stands for, by their names; the paths are as the command takes them.
        var options: [String: [String]] = [:]
        /// The variable of the environment that has its password; `nil` for what the command line says.
        var passwordVariable: String?
    }

    /// What messages call the list: its path.
    let file: String
    /// All of them, in order; at least one.
    let entries: [Entry]

    /// Reads the JSON.
    ///
    /// A key that no identity has, or a value of another kind than it must be, is refused.
    ///
    /// - Parameter file: its path; the paths in it start from its folder.
    init(json: [UInt8], file: String) throws(RecipeError) {
        self.file = file
        let folder = InputFile.folder(of: file)
        var entries: [Entry] = []
        for value in try RecipeValue(json: json, file: file, advice: Self.advice).elements(Self.expected) {
            let entry = try Self.entry(value, folder)
            // Not all disks tell capitals apart, and each has a folder of its own.
            if let first = entries.firstIndex(where: { $0.name.lowercased() == entry.name.lowercased() }) {
                let isSame = entries[first].name == entry.name
                throw value.error(
                    "“\(entry.name)” is the name of [\(first)] already" + (isSame ? "" : ", but for capitals"),
                    "Give each a name of its own."
                )
            }
            entries.append(entry)
        }
        guard !entries.isEmpty else {
            throw RecipeError(.value, file, "", "there is no identity in the list", remedy: Self.advice)
        }
        self.entries = entries
    }

    private static let expected = "a list of identities"
    private static let advice = "docs/many.md has every key with an example."

    /// The keys that an identity may have.
    private enum Key: String, CaseIterable {
        case name, p12, certificate, key, chain, passwordFile, passwordEnvironment
        case profiles, bundleID, uniqueID, entitlements, recipe
    }

    private static func entry(_ value: RecipeValue, _ folder: String) throws(RecipeError) -> Entry {
        var entry = Entry()
        for (name, member) in try value.members("an identity, which is an object") {
            guard let key = Key(rawValue: name) else {
                guard name.lowercased() != "password" else {
                    throw RecipeError(
                        .unknownKey,
                        member.file,
                        member.path,
                        "a password does not stand in this file, which is not made to keep secrets",
                        remedy: "Put it into the first line of a file and give its path as “passwordFile”, or the name "
                            + "of a variable as “passwordEnvironment”."
                    )
                }
                throw member.unknownKey(name, "no identity has such a key", among: Key.allCases.map(\.rawValue))
            }
            try read(key, member, folder, &entry)
        }
        try check(entry, value)
        return entry
    }

    private static func read(
        _ key: Key,
        _ value: RecipeValue,
        _ folder: String,
        _ entry: inout Entry
    ) throws(RecipeError) {
        func file(_ value: RecipeValue) throws(RecipeError) -> String {
            let path = try value.string("the path of a file")
            guard !path.isEmpty else { throw value.unexpected("the path of a file") }
            if path.utf8.first == UInt8(ascii: "/") || TokenURI.isMeant(by: path) { return path }
            return folder.isEmpty ? path : folder + "/" + path
        }
        func files(_ value: RecipeValue) throws(RecipeError) -> [String] {
            var paths: [String] = []
            for element in try value.elements("a list of paths") { paths.append(try file(element)) }
            return paths
        }
        switch key {
        case .name: entry.name = try name(value)
        case .p12: entry.options["--p12"] = [try file(value)]
        case .certificate: entry.options["--certificate"] = [try file(value)]
        case .key: entry.options["--key"] = [try file(value)]
        case .chain: entry.options["--chain"] = try files(value)
        case .passwordFile: entry.options["--password-file"] = [try file(value)]
        case .passwordEnvironment:
            entry.passwordVariable = try value.string("the name of a variable of the environment")
        case .profiles: entry.options["--profile"] = try files(value)
        case .bundleID: entry.options["--bundle-id"] = [try value.string()]
        case .uniqueID: entry.options["--unique-id"] = [try value.choice(SigningRecipe.UniqueID.self).rawValue]
        case .entitlements:
            var options: [String] = []
            if case .string = value.value {
                options.append(appEntitlements(try file(value)))
            } else {
                for (bundle, path) in try value.members("the path of a file, or an object of bundles and files") {
                    guard !bundle.isEmpty, !bundle.utf8.contains(where: { "/=".utf8.contains($0) }) else {
                        throw path.error("no bundle has such an identifier", advice)
                    }
                    let file = try file(path)
                    options.append(bundle == "app" ? appEntitlements(file) : bundle + "=" + file)
                }
            }
            entry.options["--entitlements"] = options
        case .recipe: entry.options["--recipe"] = [try file(value)]
        }
    }

    /// The option's value for the app: with a slash in any case, or it would take `A=B` for a bundle and a file.
    private static func appEntitlements(_ path: String) -> String {
        path.utf8.contains(UInt8(ascii: "/")) ? path : "./" + path
    }

    /// A name that a folder may have, and a line of a table.
    private static func name(_ value: RecipeValue) throws(RecipeError) -> String {
        let name = try value.string("a name")
        let isPlain = !name.isEmpty && name.utf8.count <= 100 && name.printable == name
        guard isPlain, !name.hasPrefix("."), !name.utf8.contains(UInt8(ascii: "/")) else {
            throw value.unexpected(
                "a name that a folder may have",
                remedy: "Use up to 100 bytes of text without a slash, and without a dot in front."
            )
        }
        return name
    }

    private static func check(_ entry: Entry, _ value: RecipeValue) throws(RecipeError) {
        let given = ["--p12", "--certificate", "--key"].map { entry.options[$0] != nil }
        guard !entry.name.isEmpty else { throw value.error("it has no “name”", advice) }
        guard !(given[0] && (given[1] || given[2])) else {
            throw value.error("“p12” goes without “certificate” and “key”", "Give one of the two.")
        }
        guard given[0] || (given[1] && given[2]) else {
            throw value.error("it has neither “p12” nor both “certificate” and “key”", advice)
        }
        guard entry.passwordVariable == nil || entry.options["--password-file"] == nil else {
            throw value.error("“passwordFile” and “passwordEnvironment” exclude each other", "Give one of them.")
        }
    }
}

extension RecipeValue {
    /// What is wrong with an object as a whole.
    fileprivate func error(_ what: String, _ remedy: String) -> RecipeError {
        RecipeError(.value, file, path, what, remedy: remedy)
    }
}

extension InputFile {
    /// The folder that a file lies in; empty for that of the command.
    static func folder(of path: String) -> String {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        return path.hasPrefix("/") && folder.isEmpty ? "/" : folder
    }
}

extension Invocation {
    /// The command line with what an identity says in place of its own options.
    ///
    /// - Parameter place: where the identity stands: `acme.json: [1]`.
    func with(_ entry: IdentityList.Entry, _ place: String) throws(InputError) -> Invocation {
        var options = entry.options
        var environment = environment
        if let variable = entry.passwordVariable {
            // Whoever wrote the password itself there must not read it in a log.
            guard let password = environment[variable] else {
                throw InputError(
                    message: "\(place).passwordEnvironment: the environment has no variable of that name.",
                    remedy: "Set it to the password (to nothing, if there is none) and export it."
                )
            }
            environment["FERRY_P12_PASSWORD"] = password
            environment["FERRY_PIN"] = password
            options["--password-file"] = []
        }
        guard options["--profile"]?.isEmpty == false || arguments.isGiven("--profile") else {
            throw InputError(
                message: "\(place): it has no “profiles”, and the command line has no --profile.",
                remedy: "Give the paths of its provisioning profiles."
            )
        }
        return Invocation(
            program: program,
            arguments: arguments.replacing(options),
            console: console,
            environment: environment
        )
    }
}
