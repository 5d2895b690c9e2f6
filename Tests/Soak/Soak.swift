import Foundation

/// Carries many installs through kills, faults and orders, and looks at what became of them.
///
/// `ferry-soak [--installs N] [--kills N] [--seed N] [--folder DIR]` drives; it starts itself as `ferry-soak worker …`, and
/// kills that. Exit code 0 only if every install that was not cancelled stands, byte for byte, and nothing is left over.
@main enum Soak {
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == "worker" {
                try await SoakWorker(arguments.dropFirst()).run()
            } else {
                try await SoakDriver(try SoakPlan(arguments)).run()
            }
        } catch {
            FileHandle.standardError.write(Data("soak: \(error)\n".utf8))
            exit(1)
        }
        exit(0)
    }
}

/// Writes a line at once, whoever reads it.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data("soak: \(line)\n".utf8))
}

/// What went wrong.
struct SoakFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// How much there is to do.
struct SoakPlan {
    /// How many installs, at least: where they end before there were kills enough, there are more.
    var installs = 300
    /// How many processes are killed, at least.
    var kills = 100
    /// What all that is random comes from, so far as it is not the machine's own.
    var seed = UInt64.random(in: 0...0xFFFF_FFFF)
    /// Where; `nil` for a new folder that goes when all went well.
    var folder: String?

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { throw SoakFailure("\(name) needs a value") }
            switch (name, UInt64(value)) {
            case ("--installs", let number?) where number > 0: installs = Int(clamping: number)
            case ("--kills", let number?): kills = Int(clamping: number)
            case ("--seed", let number?): seed = number
            case ("--folder", _): folder = value
            default:
                throw SoakFailure("usage: ferry-soak [--installs N] [--kills N] [--seed N] [--folder DIR]")
            }
        }
    }
}
