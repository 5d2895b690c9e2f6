import FerryAppBundle
import FerryBytes
public import FerryCodeSignature
import FerryMachO

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Checks apps as a device does before it installs them, and says how two of them differ.
///
/// It takes archives, folders (`NAME.app`, one with `Payload` in it, or one with one app in it), and single Mach-O files.
public struct Verifier: Sendable {
    private let workers: Workers
    private let now: @Sendable () -> Int64

    /// Starts the threads.
    ///
    /// - Parameter threadCount: how many; one a core is best.
    /// - Parameter now: the date to judge validity by, in seconds since 1970.
    public init(threadCount: Int, now: @escaping @Sendable () -> Int64) {
        workers = Workers(count: threadCount)
        self.now = now
    }

    /// What is wrong with an app or a Mach-O file; warnings aside empty for one that the device would take.
    public func verify(
        _ path: String,
        for device: TargetDevice = TargetDevice()
    ) async throws(SignError) -> [Fault] {
        do {
            if let code = try Self.code(path) { return code.faults(path, now: now()) }
            let input = try Self.input(path)
            let verifier = ArchiveVerifier(input: input, name: path, now: now(), device: device, workers: workers)
            return try await verifier.run().faults
        } catch {
            throw SignError(wrapping: error, .input, path)
        }
    }

    /// What is other in the app at `after` than in the one at `before`; nothing is checked.
    public func compare(_ before: String, with after: String) async throws(SignError) -> ArchiveComparison {
        var path = before
        do {
            let old = try Comparer.Side(before, Self.input(before))
            path = after
            let new = try Comparer.Side(after, Self.input(after))
            return try await Comparer(before: old, after: new, workers: workers).run()
        } catch {
            throw SignError(wrapping: error, .input, path)
        }
    }

    /// An archive or a folder.
    static func input(_ path: String) throws(FileFailure) -> AppFiles.Input {
        var status = stat()
        guard stat(path, &status) == 0 else { throw FileFailure("open", path, errorNumber: errno) }
        guard status.st_mode & S_IFMT != S_IFDIR else { return .folder(path) }
        return .archive(try FileSource(path: path))
    }

    /// The bytes of a single Mach-O file; `nil` for anything else.
    private static func code(_ path: String) throws -> LooseCode? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let source = try FileSource(path: path)
        guard MachOFile.claims(try source.bytes(at: 0, count: min(8, source.count))) else { return nil }
        guard source.count <= AppFiles.codeLimit else { throw FileFailure("read", path, errorNumber: EFBIG) }
        return LooseCode(bytes: try source.bytes(at: 0, count: source.count))
    }
}

/// A Mach-O file that lies in no app.
private struct LooseCode {
    let bytes: [UInt8]

    /// All slices' faults: pages, slots, messages, flags, and the signer's chain.
    func faults(_ path: String, now: Int64) -> [Fault] {
        do {
            let context = ImageVerifier.Context(place: path)
            guard let file = try ArchiveVerifier.code(path, bytes, context) else { return [] }
            let signers = SignerRules(code: [file], place: path, now: now)
            return file.images.flatMap(\.report.faults) + signers.validityFaults() + signers.faults()
        } catch {
            let explained = error as? any ExplainedError
            return [Fault(.machO, at: path, explained?.message ?? "\(error)", remedy: explained?.remedy)]
        }
    }
}
