import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The name of an archive on a device, which says who sent it.
///
/// A process that is killed removes nothing. Whoever comes next can tell from the name that the sender is gone.
///
/// ```
/// ferry-RUN-PROCESS-START-RANDOM.ipa      each a number in base 36
/// ```
struct StagedName: Sendable, Hashable {
    /// The sender: a process, of one run of one machine.
    struct Sender: Sendable, Hashable {
        /// Names a run of a machine, and the processes there that see each other.
        var run: UInt64
        /// Its number.
        var process: UInt64
        /// When it began, in ticks since the machine did: numbers are given anew.
        var start: UInt64
    }

    static let prefix = "ferry-"
    static let suffix = ".ipa"

    let sender: Sender
    let random: UInt64

    /// A new name of this process.
    init() {
        self.init(sender: .this, random: .random(in: 0...UInt64.max))
    }

    init(sender: Sender, random: UInt64) {
        self.sender = sender
        self.random = random
    }

    /// Reads a name; `nil` for what is none of this form.
    init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), text.hasSuffix(Self.suffix) else { return nil }
        let parts = text.dropFirst(Self.prefix.count).dropLast(Self.suffix.count)
            .split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0, radix: 36) }
        guard parts.count == 4, let run = parts[0], let process = parts[1], let start = parts[2], let random = parts[3]
        else { return nil }
        self.init(sender: Sender(run: run, process: process, start: start), random: random)
    }

    /// As the file is called.
    var text: String {
        let numbers = [sender.run, sender.process, sender.start, random].map { String($0, radix: 36) }
        return Self.prefix + numbers.joined(separator: "-") + Self.suffix
    }
}

extension StagedName.Sender {
    /// This process.
    static let this: Self = {
        let process = UInt64(getpid())
        guard let run = thisRun, let start = startTime(of: process) else {
            // Nobody can tell whether it lives, so nobody shall think that it does not.
            return Self(run: .random(in: 0...UInt64.max), process: process, start: 0)
        }
        return Self(run: run, process: process, start: start)
    }()

    /// Whether it is known to be no more: a process of this machine's present run that is not there.
    var isGone: Bool {
        guard run == Self.this.run, process > 0, process <= UInt64(Int32.max) else { return false }
        return Self.startTime(of: process) != start
    }

    /// The machine's run, and its space of process numbers: those of another container cannot be seen from here.
    private static let thisRun: UInt64? = {
        guard let boot = pseudoFile("/proc/sys/kernel/random/boot_id") else { return nil }
        var link = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/self/ns/pid", &link, link.count)
        guard count > 0 else { return nil }
        // FNV-1a.
        let bytes = Array(boot.utf8) + link.prefix(count).map { UInt8(bitPattern: $0) }
        return bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }()

    /// When a process began; `nil` where it is not there, or this system does not say.
    ///
    /// Source: proc_pid_stat(5); the name, in parentheses, may have spaces and parentheses of its own.
    private static func startTime(of process: UInt64) -> UInt64? {
        guard let text = pseudoFile("/proc/\(process)/stat"), let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        // A zombie (Z), which only waits to be reaped, does nothing any more.
        guard fields.count > 19, fields[0] != "Z", fields[0] != "X" else { return nil }
        return UInt64(fields[19])
    }

    /// A file of the kernel's, whose length is said to be zero.
    private static func pseudoFile(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = read(descriptor, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    }
}
