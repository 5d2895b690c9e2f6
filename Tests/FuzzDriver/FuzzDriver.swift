import Foundation
import FuzzTargets

#if FUZZING
import CFuzzer
#else
import FerryBytes
#endif

/// `ferry-fuzz NAME …`: one target under libFuzzer, whose own options and folders follow.
///
/// Built without `FUZZING` it only runs the target on the files that follow. `Scripts/fuzz` builds it and knows the options.
@main
enum FuzzDriver {
    /// Where the name is kept for the processes that libFuzzer starts of this program, with its options alone.
    private static let variable = "FERRY_FUZZ_TARGET"

    private static let target: FuzzTarget = {
        let name = ProcessInfo.processInfo.environment[variable]
        guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
            print("There is no target “\(name ?? "")”.")
            exit(2)
        }
        return target
    }()

    static func main() throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        guard let first = arguments.first else {
            for target in FuzzTarget.all { print(target.name, target.maximumBytes) }
            return
        }
        if !first.hasPrefix("-") {
            setenv(variable, first, 1)
            arguments.removeFirst()
        }
        try run(target, arguments)
    }

    #if FUZZING
    private static func run(_ target: FuzzTarget, _ options: [String]) throws {
        var arguments = ([CommandLine.arguments[0]] + options).map { strdup($0) } + [nil]
        var count = Int32(arguments.count - 1)
        arguments.withUnsafeMutableBufferPointer { buffer in
            var start = buffer.baseAddress
            // libFuzzer's callback takes no context.
            _ = LLVMFuzzerRunDriver(&count, &start) { bytes, count in
                do {
                    try FuzzDriver.target.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
                } catch {
                    fatalError("\(error)")
                }
                return 0
            }
        }
    }
    #else
    private static func run(_ target: FuzzTarget, _ paths: [String]) throws {
        for path in paths {
            print(path)
            try target.run(try WholeFile.read(path, limit: 1 << 20))
        }
    }
    #endif
}
