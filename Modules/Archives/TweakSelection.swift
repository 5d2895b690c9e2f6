import FerryBytes
import FerryMachO
import FerryPropertyList

/// Chooses out of files what is code to inject, what belongs to it, and what is neither.
struct TweakSelection {
    private(set) var libraries: [Tweak.Library] = []
    private(set) var resources: [PackedFile] = []
    private(set) var notes: [InjectionNote] = []

    private let files: [String: PackedFile]
    private let paths: [String]
    /// Names by which links call other files.
    private var aliases: [String: [String]] = [:]

    /// - Parameter packed: paths from the root; where a jailbreak has its own root, `/var/jb`, that is left away.
    init(_ packed: [PackedFile]) {
        var files: [String: PackedFile] = [:]
        for file in packed {
            let path = Self.withoutRoot(file.path)
            files[path] = files[path] ?? file.moved(to: path)
        }
        self.files = files
        paths = files.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for path in paths {
            if let end = destination(of: path), end != path { aliases[end, default: []].append(libraryKey(path)) }
        }
    }

    private static func withoutRoot(_ path: String) -> String {
        path.beginsExactly(with: "var/jb/") ? path.dropping("var/jb/") : path
    }

    /// How many libraries, frameworks or folders of resources are taken from one package.
    private static let libraryLimit = 256

    /// How many links are followed from one to the next.
    private static let linkLimit = 16

    /// The regular file that a path means, through links, in its own and all folders above; `nil` where there is none.
    private func destination(of path: String) -> String? {
        var rest = path.pathParts[...]
        var place: [String] = []
        var links = 0
        while let part = rest.popFirst() {
            place.append(part)
            let here = place.joined(separator: "/")
            guard let target = files[here]?.target else { continue }
            links += 1
            guard links <= Self.linkLimit, let next = FileCollection.resolve(target, from: here) else { return nil }
            rest = Self.withoutRoot(next).pathParts + rest
            place = []
        }
        let end = place.joined(separator: "/")
        return files[end] == nil ? nil : end
    }

    // MARK: Packages

    /// Where tweaks lie.
    private static let tweakFolders = ["Library/MobileSubstrate/DynamicLibraries", "usr/lib/TweakInject"]
    /// Where libraries lie that others load.
    private static let supportFolders = ["usr/lib", "usr/local/lib"]

    mutating func selectPackage() {
        var taken: Set<String> = []
        for folder in Self.tweakFolders {
            for path in paths where parent(path) == folder && path.hasBytesSuffix(".dylib") {
                addLibrary(path, as: .injected, filter: filter(beside: path))
                taken.insert(path)
            }
        }
        let hasTweak = !libraries.isEmpty
        for framework in folders(ending: ".framework") {
            let isOurs =
                framework.beginsExactly(with: "Library/Frameworks/")
                || Self.tweakFolders.contains { framework.beginsExactly(with: $0 + "/") }
            guard isOurs || framework.beginsExactly(with: "usr/lib/") else { continue }
            addFramework(framework, as: hasTweak ? .support : .injected)
        }
        for path in paths where path.hasBytesSuffix(".dylib") && !taken.contains(path) {
            // A link to a library is a name of it, and no library of its own.
            if Self.supportFolders.contains(parent(path)), files[path]?.target == nil { addLibrary(path, as: .support) }
        }
        for bundle in folders(ending: ".bundle") {
            guard !bundle.beginsExactly(with: "Library/PreferenceBundles/"),
                !bundle.pathParts.dropLast().contains(where: {
                    $0.hasBytesSuffix(".bundle") || $0.hasBytesSuffix(".framework")
                })
            else { continue }
            addResources(bundle)
        }
        noteWhatIsLeft()
    }

    mutating func note(_ control: ControlFields) {
        let known = [
            "mobilesubstrate", "firmware", "ellekit", "com.saurik.substrate.safemode", "org.coolstar.libhooker",
        ]
        for dependency in control.dependencies where !known.contains(dependency) {
            notes.append(
                InjectionNote(
                    .needsPackage,
                    "The package says that it needs \(dependency.printable), which no app has unless it is injected too."
                )
            )
        }
    }

    private mutating func noteWhatIsLeft() {
        var left: [String: Int] = [:]
        for path in paths {
            let parts = path.pathParts
            if parts.starts(with: ["Library", "PreferenceBundles"]) {
                left["settings (Library/PreferenceBundles)", default: 0] += 1
            } else if parts.starts(with: ["Library", "PreferenceLoader"]) {
                left["settings (Library/PreferenceLoader)", default: 0] += 1
            } else if parts.starts(with: ["Library", "LaunchDaemons"])
                || parts.first == "usr" && parts.dropFirst().first == "bin"
            {
                left["daemons and commands", default: 0] += 1
            } else if parts.first == "Applications" {
                left["apps", default: 0] += 1
            } else if parts.starts(with: ["Library", "Application Support"]),
                !parts.contains(where: { $0.hasBytesSuffix(".bundle") })
            {
                left["files of Library/Application Support that are in no .bundle", default: 0] += 1
            }
        }
        for (what, count) in left.sorted(by: { $0.key < $1.key }) {
            notes.append(InjectionNote(.leftOut, "Left out: \(what), \(count) \(count == 1 ? "file" : "files")."))
        }
    }

    // MARK: Anything else

    mutating func selectLoose() {
        let frameworks = folders(ending: ".framework")
        for framework in frameworks { addFramework(framework, as: .injected) }
        let bundles = folders(ending: ".bundle")
        for path in paths where path.hasBytesSuffix(".dylib") || paths.count == 1 {
            let isInside = (frameworks + bundles).contains { path.beginsExactly(with: $0 + "/") }
            if !isInside, files[path]?.target == nil {
                addLibrary(path, as: .injected, filter: filter(beside: path))
            }
        }
        for bundle in bundles {
            if !(frameworks + bundles).contains(where: { bundle.beginsExactly(with: $0 + "/") }) {
                addResources(bundle)
            }
        }
    }

    // MARK: Parts

    private func parent(_ path: String) -> String { path.pathParts.dropLast().joined(separator: "/") }

    /// The outermost folders of a kind.
    private func folders(ending suffix: String) -> [String] {
        var found: Set<String> = []
        for path in paths {
            let parts = path.pathParts
            guard let place = parts.dropLast().firstIndex(where: { $0.hasBytesSuffix(suffix) }) else { continue }
            found.insert(parts[...place].joined(separator: "/"))
        }
        return Array(found.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.prefix(Self.libraryLimit))
    }

    private func filter(beside path: String) -> TweakFilter? {
        let list = String(decoding: path.utf8.dropLast(".dylib".utf8.count), as: UTF8.self) + ".plist"
        return files[list]?.bytes.flatMap { TweakFilter($0) }
    }

    private mutating func addLibrary(_ path: String, as role: Tweak.Library.Role, filter: TweakFilter? = nil) {
        guard let name = path.pathParts.last, let end = destination(of: path), let bytes = files[end]?.bytes,
            let file = files[end]
        else {
            return notes.append(
                InjectionNote(.leftOut, "Left out: \(path.printable), a link to what is not in the package.")
            )
        }
        let own = PackedFile(path: name, content: .bytes(bytes), mode: file.mode)
        add(name, [own], code: own, keys: aliases[path, default: []] + aliases[end, default: []], role, filter)
    }

    private mutating func addFramework(_ folder: String, as role: Tweak.Library.Role) {
        guard let name = folder.pathParts.last else { return }
        var executable = String(decoding: name.utf8.dropLast(".framework".utf8.count), as: UTF8.self)
        if let info = files[folder + "/Info.plist"]?.bytes, let (list, _) = try? PropertyList.parse(info),
            let named = list["CFBundleExecutable"]?.string
        {
            executable = named
        }
        var own: [PackedFile] = []
        var keys: [String] = []
        for path in paths where path.beginsExactly(with: folder + "/") {
            guard let file = files[path] else { continue }
            let place = name + "/" + path.dropping(folder + "/")
            keys += aliases[path, default: []]
            if let target = file.target {
                // A link that leads out of the framework leads to what lies elsewhere in an app.
                let inside = FileCollection.resolve(target, from: path).map { Self.withoutRoot($0) }
                if let inside, inside.beginsExactly(with: folder + "/"), !target.beginsExactly(with: "/") {
                    own.append(file.moved(to: place))
                } else if let end = destination(of: path), let bytes = files[end]?.bytes, let real = files[end] {
                    keys += [libraryKey(end)] + aliases[end, default: []]
                    own.append(PackedFile(path: place, content: .bytes(bytes), mode: real.mode))
                } else {
                    notes.append(InjectionNote(.leftOut, "Left out: \(path.printable), a link to what is not there."))
                }
            } else {
                own.append(file.moved(to: place))
            }
        }
        let code = destination(of: folder + "/" + executable).flatMap { end in
            own.first { $0.path == name + "/" + executable && $0.bytes != nil }
                ?? own.first { $0.path == name + "/" + end.dropping(folder + "/") && $0.bytes != nil }
        }
        guard let code else {
            return notes.append(
                InjectionNote(
                    .leftOut,
                    "Left out: \(folder.printable), which has no executable \(executable.printable)."
                )
            )
        }
        add(name, own, code: code, keys: keys, role, nil)
    }

    private mutating func add(
        _ name: String,
        _ files: [PackedFile],
        code: PackedFile,
        keys: [String],
        _ role: Tweak.Library.Role,
        _ filter: TweakFilter?
    ) {
        let images: [MachOImage]
        do {
            images = try MachOFile(code.bytes ?? []).slices.map(\.image)
        } catch {
            return notes.append(InjectionNote(.leftOut, "Left out: \(code.path.printable): \(error.message)"))
        }
        guard images.allSatisfy({ $0.fileType == .dylib }) else {
            return notes.append(
                InjectionNote(.leftOut, "Left out: \(code.path.printable), which is no dynamic library.")
            )
        }
        guard libraries.count < Self.libraryLimit else {
            return notes.append(
                InjectionNote(.leftOut, "Left out: \(name.printable), after \(libraries.count) others.")
            )
        }
        guard !libraries.contains(where: { $0.name == name }) else {
            return notes.append(InjectionNote(.leftOut, "Left out: a second \(name.printable)."))
        }
        libraries.append(
            Tweak.Library(
                name: name,
                codePath: code.path,
                role: role,
                filter: filter,
                loads: Self.loads(images),
                keys: Set(keys + [libraryKey(code.path)] + images.compactMap(\.installName).map { libraryKey($0) }),
                files: files.map {
                    $0.path == code.path ? PackedFile(path: $0.path, content: $0.content, mode: 0o755) : $0
                }
            )
        )
    }

    /// What any slice loads; weakly, if no slice insists.
    private static func loads(_ images: [MachOImage]) -> [Tweak.Library.Load] {
        var isWeak: [String: Bool] = [:]
        var paths: [String] = []
        for library in images.flatMap(\.libraries) {
            if isWeak[library.path] == nil { paths.append(library.path) }
            isWeak[library.path] = (isWeak[library.path] ?? true) && library.kind == .weak
        }
        return paths.map { .init(path: $0, isWeak: isWeak[$0] ?? false) }
    }

    private mutating func addResources(_ folder: String) {
        guard let name = folder.pathParts.last else { return }
        guard !resources.contains(where: { $0.path.beginsExactly(with: name + "/") }) else {
            return notes.append(InjectionNote(.leftOut, "Left out: a second \(name.printable)."))
        }
        for path in paths where path.beginsExactly(with: folder + "/") {
            guard let file = files[path] else { continue }
            let place = name + "/" + path.dropping(folder + "/")
            if let target = file.target {
                let inside = FileCollection.resolve(target, from: place)
                guard !target.beginsExactly(with: "/"), inside?.beginsExactly(with: name + "/") == true else {
                    notes.append(InjectionNote(.leftOut, "Left out: \(path.printable), a link out of its folder."))
                    continue
                }
            }
            resources.append(file.moved(to: place))
        }
    }
}
