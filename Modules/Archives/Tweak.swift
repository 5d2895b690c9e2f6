import FerryBytes
import FerryMachO
import FerryPropertyList

/// Code to inject, with what belongs to it, chosen out of a package, a folder or a file.
public struct Tweak: Sendable {
    /// A dynamic library or a framework.
    public struct Library: Sendable, Hashable {
        /// How it comes to be loaded.
        public enum Role: Sendable, Hashable {
            /// The app loads it.
            case injected
            /// Whatever of the others needs it loads it; if none does, it is left out.
            case support
        }

        /// `NAME.dylib` or `NAME.framework`.
        public let name: String
        /// The file with the code: ``name`` itself, or in the framework's folder.
        public let codePath: String
        /// How it comes to be loaded.
        public let role: Role
        /// Which apps it says that it is for; `nil` where it says nothing.
        public let filter: TweakFilter?
        /// What it loads.
        public let loads: [Load]
        /// The names that others may know it by: its own, its install name's, and those of links to it.
        let keys: Set<String>
        /// Its files, ``codePath`` among them, their paths beginning with ``name``.
        let files: [PackedFile]

        /// A library that this one loads.
        public struct Load: Sendable, Hashable {
            /// The path in the load command.
            public let path: String
            /// Whether it can do without.
            public let isWeak: Bool
        }
    }

    /// What it is called, for people.
    public let name: String
    /// The code.
    public let libraries: [Library]
    /// Folders of resources, by their files; each path begins with the folder's name, for instance `X.bundle/a.png`.
    public let resources: [PackedFile]
    /// What people should know.
    public let notes: [InjectionNote]

    /// Reads a `.deb`, a `.dylib`, a `.framework` folder, or a `.zip` of the last two.
    ///
    /// Errors name the path.
    public init(path: String, limits: ArchiveLimits = .standard) throws(ArchiveError) {
        do throws(ArchiveError) {
            let name = path.pathParts.last ?? path
            if name.hasBytesSuffix(".framework") {
                let files = try FolderReader.files(at: path, as: name, limits: limits)
                try self.init(name: name, looseFiles: files)
                return
            }
            let bytes = try wholeFile(path, limits)
            if DebianPackage.claims(bytes) {
                try self.init(try DebianPackage(bytes, limits: limits), fileName: name)
            } else if bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) {
                let files = try Unpacking.files(in: bytes[...], as: .zip, limits: limits)
                try self.init(name: name, looseFiles: files)
            } else if MachOFile.claims(bytes) {
                try self.init(name: name, looseFiles: [PackedFile(path: name, content: .bytes(bytes), mode: 0o755)])
            } else {
                let what = bytes.isEmpty ? "The file is empty" : "It begins with \(bytes.prefix(8).hex)"
                throw ArchiveError(.notAnArchive, "\(what), which is nothing to inject.")
            }
        } catch {
            throw error.message.beginsExactly(with: path) ? error : error.inside(path)
        }
    }

    /// Chooses the code of a package.
    public init(_ package: DebianPackage, fileName: String = "the package") throws(ArchiveError) {
        var selection = TweakSelection(package.files)
        selection.selectPackage()
        selection.note(package.control)
        try self.init(package.control.name ?? package.control.package ?? fileName, selection)
    }

    /// Takes every library and framework among `looseFiles`, wherever it lies.
    ///
    /// - Parameter name: what it is called, for people.
    public init(name: String, looseFiles: [PackedFile]) throws(ArchiveError) {
        var selection = TweakSelection(looseFiles)
        selection.selectLoose()
        try self.init(name, selection)
    }

    private init(_ name: String, _ selection: TweakSelection) throws(ArchiveError) {
        guard !selection.libraries.isEmpty else {
            let why = selection.notes.first.map { " " + $0.text } ?? ""
            throw ArchiveError(.nothingToInject, "There is no dynamic library in it.\(why)")
        }
        self.name = name
        libraries = selection.libraries
        resources = selection.resources
        notes = selection.notes
    }
}

/// Something about an injection that people should know, though it keeps nothing from going on.
public struct InjectionNote: Sendable, Hashable {
    /// What it is about.
    public enum Code: String, Sendable, CaseIterable {
        /// A part of a package that has no place in an app.
        case leftOut
        /// A tweak that says it is for other apps.
        case otherApp
        /// A library for hooking that is not among what is injected.
        case needsHookLibrary
        /// Another library that is not among what is injected.
        case needsLibrary
        /// A package that a package says it depends on.
        case needsPackage
    }

    /// What it is about.
    public let code: Code
    /// A sentence.
    public let text: String

    init(_ code: Code, _ text: String) {
        self.code = code
        self.text = text
    }
}

extension String {
    /// Whether the text ends with `suffix`, byte by byte, and is longer.
    func hasBytesSuffix(_ suffix: String) -> Bool {
        utf8.count > suffix.utf8.count && utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
}
