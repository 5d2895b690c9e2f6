import FerryAppBundle
import FerryBytes
import FerryPropertyList
import FerrySigning

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Files that a command line names, read.
enum InputFile {
    /// Profiles, keys and certificates are small; a larger file is some other one.
    static let limit = 64 << 20

    /// The bytes of a small file, or of a pipe such as `<(…)`.
    ///
    /// - Parameter takesDash: whether `-` is standard input.
    static func bytes(
        _ path: String,
        limit: Int = limit,
        takesDash: Bool = false
    ) throws(FileFailure) -> [UInt8] {
        let descriptor = takesDash && path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure("open", path, errorNumber: errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileFailure("read", path, errorNumber: errno) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= limit else { throw FileFailure("read", path, errorNumber: EFBIG) }
        }
    }
}

extension Invocation {
    /// The profiles that `--profile` names.
    func profiles() throws -> [ProvisioningProfile] {
        try arguments.values("--profile").map { path in
            try ProvisioningProfile(bytes: try InputFile.bytes(path), path: path)
        }
    }

    /// With what to sign, as the command line says it.
    func signingOptions() async throws -> SigningOptions {
        var options = try await SigningOptions(signatures(), profiles: profiles())
        options.recipe = try recipe()
        options.iconImage = try iconImage(of: options.recipe)
        options.pageSize = arguments.value("--page-size").flatMap { Int($0) }
        if let how = arguments.value("--verify").flatMap({ SigningOptions.Verification(rawValue: $0) }) {
            options.verification = how
        }
        for text in arguments.values("--entitlements") {
            let (bundle, file) = bundleAndFile(text)
            let given = try entitlements(file)
            if let bundle { options.bundleEntitlements[bundle] = given } else { options.entitlements = given }
        }
        return options
    }

    /// What `[BUNDLE=]FILE` says: a bundle's id or folder's name has no slash.
    func bundleAndFile(_ text: String) -> (bundle: String?, file: String) {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, !parts[0].utf8.contains(UInt8(ascii: "/")) else { return (nil, text) }
        return (parts[0], parts[1])
    }

    /// What becomes of the signatures.
    private func signatures() async throws -> SigningOptions.Signatures {
        if arguments.flagIfDescribed("--adhoc") { return .adHoc }
        if arguments.flagIfDescribed("--unsign") { return .removed }
        if arguments.flagIfDescribed("--only-modify") { return .left }
        guard arguments.isGiven("--profile") else {
            throw UsageError(
                .missingOption,
                "--profile FILE is missing: \(Option.profile.help).",
                verb: "sign"
            )
        }
        return .made(by: try await identity())
    }

    private func entitlements(_ path: String) throws -> PropertyList.Dictionary {
        let bytes = try InputFile.bytes(path)
        let list: PropertyList
        do {
            list = try PropertyList.parse(bytes).value
        } catch {
            throw InputError(message: "\(path): \(error.message)", remedy: error.remedy)
        }
        guard case .dictionary(let entitlements) = list else {
            throw InputError(
                message: "\(path): the entitlements are no dictionary.",
                remedy: "Pass a property list like that of codesign --display --entitlements."
            )
        }
        return entitlements
    }
}

/// A file that was named on the command line, and is no use.
struct InputError: ExplainedError, Equatable {
    /// Which file, and what is wrong with it.
    let message: String
    /// What to pass instead.
    let remedy: String?
    /// A stable name for the kind of error.
    var code = "input"
}
