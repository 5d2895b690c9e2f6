import FerryAppBundle
import FerryPropertyList

/// Files by path, as a small archive in memory.
struct Files {
    private(set) var contents: [(path: String, bytes: [UInt8])] = []

    init(_ contents: [(String, [UInt8])] = []) {
        for (path, bytes) in contents { self[path] = bytes }
    }

    subscript(path: String) -> [UInt8]? {
        get { contents.first { $0.path == path }?.bytes }
        set {
            contents.removeAll { $0.path == path }
            if let newValue { contents.append((path, newValue)) }
        }
    }

    /// A bundle with an Info.plist and, unless it is `nil`, an executable of that name.
    mutating func add(
        _ path: String,
        id: String?,
        executable: String? = "A",
        exists: Bool = true,
        _ more: PropertyList.Dictionary = [:],
        as format: PropertyList.Format = .binary
    ) {
        var info = more
        info["CFBundleIdentifier"] = id.map { .string($0) }
        info["CFBundleExecutable"] = executable.map { .string($0) }
        self[path + "/Info.plist"] = PropertyList.dictionary(info).encoded(as: format)
        if let executable, exists { self[path + "/" + executable] = [0xCF, 0xFA, 0xED, 0xFE] }
    }

    struct NotThere: Error {}

    func tree(adding more: [BundlePath] = []) throws -> BundleTree {
        try BundleTree(paths: contents.map { BundlePath(path: $0.path) } + more) { path in
            guard let bytes = self[path] else { throw NotThere() }
            return bytes
        }
    }
}

/// An app with whatever else is put beside or into it.
func app(_ id: String? = "com.peer.bench", _ build: (inout Files) -> Void = { _ in }) -> Files {
    var files = Files()
    files.add("Payload/A.app", id: id)
    build(&files)
    return files
}
