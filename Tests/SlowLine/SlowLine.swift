import Foundation
import TestKit

/// A far, slow line to a server on loopback, for measurements:
/// `ferry-slow-line PORT [MILLISECONDS [BYTES-A-SECOND [DROP-EVERY [SEED]]]]`.
///
/// Prints the port that it listens on, and ends when standard input does.
@main
enum SlowLine {
    static func main() throws {
        let numbers = CommandLine.arguments.dropFirst().map { Int($0) }
        guard let target = numbers.first ?? nil, numbers.count <= 5, numbers.allSatisfy({ $0 != nil }) else {
            FileHandle.standardError.write(
                Data("usage: ferry-slow-line PORT [MILLISECONDS [BYTES-A-SECOND [DROP-EVERY [SEED]]]]\n".utf8)
            )
            exit(2)
        }
        var line = DelayingProxy.Line()
        func number(_ index: Int) -> Int? { index < numbers.count ? numbers[index] : nil }
        if let milliseconds = number(1) { line.roundTrip = .milliseconds(milliseconds) }
        if let bytes = number(2) { line.bytesPerSecond = bytes }
        if let every = number(3), every > 0 { line.dropEvery = every }
        if let seed = number(4) { line.seed = UInt64(max(0, seed)) }
        let proxy = try DelayingProxy(to: target, line)
        FileHandle.standardOutput.write(Data("\(proxy.port)\n".utf8))
        while readLine() != nil {}
        withExtendedLifetime(proxy) {}
    }
}
