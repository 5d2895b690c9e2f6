import CKernel

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What one run of something cost.
struct Measurement: Sendable {
    /// Seconds on the clock.
    var wall: Double
    /// Seconds of processor time, in all threads.
    var processor: Double
    /// The most memory that was resident, in bytes; `nil` where the system does not tell.
    var peakMemory: Int?
    /// The length of what was written; `nil` for what writes nothing.
    var output: Int?
}

/// What several runs cost.
struct Row: Encodable, Sendable {
    /// What was run.
    let name: String
    /// The median of the wall seconds.
    let wall: Double
    /// The least.
    let wallMinimum: Double
    /// The most.
    let wallMaximum: Double
    /// The median of the processor seconds.
    let processor: Double
    /// The largest peak, in bytes.
    let peakMemory: Int?
    /// The length of the last output.
    let output: Int?
    /// How many runs failed.
    let failures: Int

    init(_ name: String, _ runs: [Measurement], failures: Int = 0) {
        self.name = name
        let walls = runs.map(\.wall).sorted()
        wall = walls.median
        wallMinimum = walls.first ?? 0
        wallMaximum = walls.last ?? 0
        processor = runs.map(\.processor).median
        peakMemory = runs.compactMap(\.peakMemory).max()
        output = runs.last?.output
        self.failures = failures
    }
}

extension [Double] {
    /// The one in the middle, or the mean of the two there; zero of none.
    var median: Double {
        guard !isEmpty else { return 0 }
        let sorted = sorted()
        let middle = count / 2
        return count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}

/// What the system says of this process.
enum ProcessUsage {
    /// Seconds of processor time so far.
    static func processorSeconds() -> Double {
        var usage = rusage()
        #if canImport(Darwin)
        getrusage(RUSAGE_SELF, &usage)
        #else
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #endif
        return seconds(usage)
    }

    /// User and system time of a finished or running process.
    static func seconds(_ usage: rusage) -> Double {
        Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }

    /// Gives free memory back and begins a new peak (Linux: `/proc/self/clear_refs`).
    static func resetPeak() {
        #if os(Linux)
        malloc_trim(0)
        #endif
        let descriptor = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = write(descriptor, "5", 1)
        close(descriptor)
    }

    /// The peak since then, in bytes.
    static func peak() -> Int? {
        guard let file = fopen("/proc/self/status", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix("VmHWM:") else { continue }
            return Int(text.filter(\.isNumber)).map { $0 * 1024 }
        }
        return nil
    }
}
