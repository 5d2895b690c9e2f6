import FerryBytes
public import FerryMachO

/// What is put into an app to inject tweaks, and which load commands change for it: a plan, before anything is written.
///
/// Libraries go to `Frameworks/NAME.dylib` and `Frameworks/NAME.framework/…`, folders of resources to the app's root, where
/// `Bundle.main` finds them. What the tweaks load from each other is loaded from there.
public struct InjectedFiles: Sendable, Hashable {
    /// How libraries are named in load commands.
    public enum Naming: Sendable, Hashable, CaseIterable {
        /// `@rpath/NAME`; the executable gets a run path to `Frameworks`.
        case rpath
        /// `@executable_path/Frameworks/NAME`; among each other `@loader_path/NAME`, which is right in extensions too.
        case executablePath
    }

    /// A library in the app.
    public struct Library: Sendable, Hashable {
        /// The file with its code, from the app's root.
        public let path: String
        /// The number of its tweak, from 0, in the order in which they were given.
        public let tweak: Int
        /// Whether the app loads it; else another library does.
        public let isInjected: Bool
        /// What is to change in its own load commands, before it is signed.
        public let edits: [LibraryEdit]
    }

    /// The libraries, in the order in which they are loaded.
    public let libraries: [Library]
    /// All files, the libraries as they were among them, by their paths from the app's root.
    public let files: [PackedFile]
    /// What people should know.
    public let notes: [InjectionNote]
    /// How libraries are named in load commands.
    public let naming: Naming

    private static let folder = "Frameworks/"

    /// Plans an injection.
    ///
    /// - Parameters:
    ///   - identifier: the app's identifier, for tweaks that name theirs; `nil` leaves that unchecked.
    ///   - executable: the name of the app's executable, for the same.
    ///   - appFiles: the paths of the app's own files, from its root: a library that lies there is not missed.
    /// - Throws: ``ArchiveError`` with code `duplicateName` where two tweaks bring a file for one place.
    public init(
        _ tweaks: [Tweak],
        naming: Naming = .rpath,
        identifier: String? = nil,
        executable: String? = nil,
        appFiles: some Sequence<String> = []
    ) throws(ArchiveError) {
        let all = tweaks.enumerated().flatMap { number, tweak in
            tweak.libraries.map { (number: number, tweak: tweak, library: $0) }
        }
        var notes = tweaks.flatMap(\.notes)
        let needed = Self.needed(all.map(\.library))
        let used = all.filter { $0.library.role == .injected || needed.contains($0.library) }
        for (_, tweak, library) in all where library.role == .support && !needed.contains(library) {
            notes.append(
                InjectionNote(
                    .leftOut,
                    "Left out: \(library.name.printable) of \(tweak.name.printable), which nothing loads."
                )
            )
        }
        let libraries = used.map(\.library)
        let own = Set(appFiles.map { libraryKey($0) })
        var planned: [Library] = []
        var files: [PackedFile] = []
        for (number, tweak, library) in used {
            if let identifier, let filter = library.filter,
                !filter.matches(identifier: identifier, executable: executable)
            {
                let names = (filter.bundles + filter.executables).prefix(5).map(\.printable).joined(separator: ", ")
                notes.append(
                    InjectionNote(
                        .otherApp,
                        "\(library.name.printable) of \(tweak.name.printable) says that it is for \(names), "
                            + "not for \(identifier.printable)."
                    )
                )
            }
            var edits: [LibraryEdit] = []
            for load in library.loads {
                if let target = Self.provider(of: load.path, for: library, among: libraries) {
                    let name = naming == .rpath ? "@rpath/" + target.codePath : Self.sibling(target, of: library)
                    if load.path != name { edits.append(.rename(load.path, to: name)) }
                } else if let note = Self.missing(load, by: library, own: own) {
                    notes.append(note)
                }
            }
            planned.append(
                Library(
                    path: Self.folder + library.codePath,
                    tweak: number,
                    isInjected: library.role == .injected,
                    edits: edits
                )
            )
            files += library.files.map { $0.moved(to: Self.folder + $0.path) }
        }
        files += tweaks.flatMap(\.resources)
        var places: Set<String> = []
        for file in files where !places.insert(file.path).inserted {
            throw ArchiveError(
                .duplicateName,
                "Two of what is injected bring a file for \(file.path.printable).",
                remedy: "Inject one of them, or rename the library."
            )
        }
        self.libraries = planned
        self.files = files
        var told: Set<InjectionNote> = []
        self.notes = notes.filter { told.insert($0).inserted }
        self.naming = naming
    }

    /// What is to change in the load commands of an executable that the tweaks are injected into.
    ///
    /// - Parameters:
    ///   - folder: where the executable lies, from the app's root: empty for the app's own, `PlugIns/X.appex` for an
    ///     extension's.
    ///   - isWeak: whether it is to start without them too.
    ///   - tweak: the number of the only tweak that is meant; `nil` for all.
    public func edits(forExecutableIn folder: String = "", isWeak: Bool, tweak: Int? = nil) -> [LibraryEdit] {
        let up = folder.pathParts.map { _ in "../" }.joined()
        let injected = libraries.filter { $0.isInjected && (tweak ?? $0.tweak) == $0.tweak }
            .map { $0.path.dropping(Self.folder) }
        switch naming {
        case .rpath:
            return [.addRPath("@executable_path/\(up)Frameworks")]
                + injected.map { .add("@rpath/" + $0, isWeak: isWeak) }
        case .executablePath:
            return injected.map { .add("@executable_path/\(up)\(Self.folder)\($0)", isWeak: isWeak) }
        }
    }

    // MARK: Who needs whom

    /// The support libraries that an injected one loads, or one that is so loaded.
    private static func needed(_ all: [Tweak.Library]) -> Set<Tweak.Library> {
        var needed: Set<Tweak.Library> = []
        var waiting = all.filter { $0.role == .injected }
        while let library = waiting.popLast() {
            for load in library.loads {
                guard let target = provider(of: load.path, for: library, among: all), target.role == .support else {
                    continue
                }
                if needed.insert(target).inserted { waiting.append(target) }
            }
        }
        return needed
    }

    /// The library among `all` that has what `path` means; never the one that asks, and none for the system's own.
    private static func provider(
        of path: String,
        for asking: Tweak.Library,
        among all: [Tweak.Library]
    ) -> Tweak.Library? {
        guard !path.beginsExactly(with: "/System/") else { return nil }
        let key = libraryKey(path)
        let others = all.filter { $0.codePath != asking.codePath }
        if let exact = others.first(where: { libraryKey($0.codePath) == key })
            ?? others.first(where: { $0.keys.contains(key) })
        {
            return exact
        }
        guard let hook = HookLibrary(key: key) else { return nil }
        for speaker in hook.speakers {
            if let found = others.first(where: { $0.keys.contains { HookLibrary(key: $0) == speaker } }) {
                return found
            }
        }
        return nil
    }

    private static func missing(
        _ load: Tweak.Library.Load,
        by library: Tweak.Library,
        own: Set<String>
    ) -> InjectionNote? {
        let key = libraryKey(load.path)
        // What it is loaded by itself, or what the app has.
        guard !load.isWeak, !library.keys.contains(key), !own.contains(key) else { return nil }
        if let hook = HookLibrary(key: key) {
            return InjectionNote(
                .needsHookLibrary,
                "\(library.name.printable) needs \(hook.name) (\(load.path.printable)): give it with --inject, for instance "
                    + "ElleKit's CydiaSubstrate.framework."
            )
        }
        let jailbreak = ["/Library/", "/var/jb/", "/usr/local/", "/usr/lib/TweakInject/"]
        let relative = ["@rpath/", "@loader_path/", "@executable_path/"]
        let isSwift = key.beginsExactly(with: "libswift")
        guard
            jailbreak.contains(where: { load.path.beginsExactly(with: $0) })
                || !isSwift && relative.contains(where: { load.path.beginsExactly(with: $0) })
        else { return nil }
        return InjectionNote(
            .needsLibrary,
            "\(library.name.printable) needs \(load.path.printable), which is neither injected nor in the app."
        )
    }

    /// The path from one library to another, both in `Frameworks`.
    private static func sibling(_ target: Tweak.Library, of library: Tweak.Library) -> String {
        let up = library.codePath.pathParts.dropLast().map { _ in "../" }.joined()
        return "@loader_path/" + up + target.codePath
    }
}
