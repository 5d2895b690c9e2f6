import FerryAppBundle
import FerryBytes

/// Profiles in files and folders, those that can be read and those that cannot.
struct ProfileFiles: Sendable {
    /// A file that is no profile, and why.
    struct Problem: Encodable, Sendable {
        let path: String
        let code: String
        let message: String
        let remedy: String?
    }

    /// The endings that files in a folder are known by.
    static let endings = ["mobileprovision", "provisionprofile"]

    /// In the order of the paths, those of a folder by name.
    private(set) var profiles: [(path: String, profile: ProvisioningProfile)] = []
    /// What could not be read.
    private(set) var problems: [Problem] = []

    /// Reads each path; a folder stands for all profiles in it. A damaged file is a problem, and the rest is read all the
    /// same; a folder without any is an error.
    init(_ paths: [String]) throws {
        for path in paths {
            guard InputFile.isFolder(path) else {
                add(path)
                continue
            }
            let files = try InputFile.files(in: path, endings: Self.endings)
            guard !files.isEmpty else {
                throw InputError(
                    message: "\(path): there is no profile in this folder.",
                    remedy: "Profiles are the files that end in .mobileprovision."
                )
            }
            for file in files { add(file) }
        }
    }

    private mutating func add(_ path: String) {
        do {
            profiles.append((path, try ProvisioningProfile(bytes: try InputFile.bytes(path), path: path)))
        } catch {
            let report = ErrorReport(error)
            problems.append(Problem(path: path, code: report.code, message: report.message, remedy: report.remedy))
        }
    }
}
