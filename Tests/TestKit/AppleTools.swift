import Foundation

/// LLVM's tools for Apple's formats, as far as the machine has them: a compiler, a linker, and what shows headers.
public enum AppleTools {
    /// What a test says when it skips.
    public static let absent = "clang, ld64.lld, llvm-objdump or llvm-lipo is missing (apt-get install lld llvm)"
    /// Whether all are there.
    public static let exist = compiler != nil && linker != nil && objdump != nil && lipo != nil

    /// `llvm-objdump`.
    public static let objdump = llvm("llvm-objdump")
    /// `llvm-lipo`.
    public static let lipo = llvm("llvm-lipo")
    /// `llvm-nm`.
    public static let nm = llvm("llvm-nm")
    private static let linker = llvm("ld64.lld")
    private static let compiler: Tool? = {
        guard let swift = Tool("swiftc") else { return Tool("clang") }
        let real = URL(fileURLWithPath: swift.path).resolvingSymlinksInPath()
        let beside = real.deletingLastPathComponent().appendingPathComponent("clang").path
        return FileManager.default.isExecutableFile(atPath: beside) ? Tool(path: beside) : Tool("clang")
    }()

    /// Debian's, as the Swift toolchain's own linker refuses iOS.
    private static func llvm(_ name: String) -> Tool? {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        for version in versions.filter({ $0.hasPrefix("llvm-") }).sorted().reversed() {
            let path = "/usr/lib/\(version)/bin/\(name)"
            if FileManager.default.isExecutableFile(atPath: path) { return Tool(path: path) }
        }
        return Tool(name)
    }

    /// `llvm-objdump` of the Swift toolchain, where it is new enough to know chained fixups.
    public static let newObjdump: Tool? = {
        guard let beside = compiler.map({ URL(fileURLWithPath: $0.path).deletingLastPathComponent() }) else {
            return nil
        }
        let tool = Tool(path: beside.appendingPathComponent("llvm-objdump").path)
        let help = try? tool.run(["--help"])
        return help?.text.contains("--chained-fixups") == true ? tool : nil
    }()

    /// Compiles and links a few functions for iOS on arm64.
    ///
    /// - Parameter options: for the linker, for instance `-dylib`.
    public static func link(minimumOS: String = "15.0", _ options: [String]) throws -> [UInt8] {
        let source = "int f(int a) { return a + 1; } int main(void) { return f(2); }"
        return try link(source, against: [], minimumOS: minimumOS, options)
    }

    /// Compiles and links a program for iOS on arm64, and first the libraries that it loads, in this order.
    ///
    /// - Parameter libraries: the name of each (`@rpath/` comes before it) and its source.
    /// - Parameter options: for the linker; libraries that are not named in them come after them.
    public static func link(
        _ source: String,
        against libraries: [(name: String, source: String)],
        minimumOS: String = "15.0",
        _ options: [String]
    ) throws -> [UInt8] {
        guard let compiler, let linker else { throw ToolFailure(absent) }
        let folder = try TemporaryFolder()
        func make(_ name: String, _ source: String, _ options: [String]) throws {
            try folder.write(source.utf8, to: "source.c")
            let target = ["-target", "arm64-apple-ios\(minimumOS)"]
            let compiled = try compiler.run(target + ["-O1", "-c", "source.c", "-o", "object.o"], in: folder.path)
            let linked = try linker.run(
                ["-arch", "arm64", "-platform_version", "ios", minimumOS, "17.0", "-undefined", "dynamic_lookup"]
                    + ["-no_adhoc_codesign", "-o", name, "object.o"] + options,
                in: folder.path
            )
            guard compiled.status == 0, linked.status == 0 else { throw ToolFailure(compiled.errors + linked.errors) }
        }
        for library in libraries {
            try make(library.name, library.source, ["-dylib", "-install_name", "@rpath/" + library.name])
        }
        let others = libraries.map(\.name).filter { !options.contains($0) }
        try make("out", source, options + others)
        return try folder.read("out")
    }
}
