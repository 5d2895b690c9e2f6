import FerryBytes

/// The libraries that tweaks hook functions with, and that a jailbreak has where an app's own folder has none.
///
/// ElleKit speaks for all of them: it has the functions of CydiaSubstrate and those of libhooker.
enum HookLibrary: Sendable, Hashable, CaseIterable {
    case substrate
    case hooker
    case ellekit

    /// Which one a path of a load command means; `nil` for any other library.
    init?(key: String) {
        switch key {
        case "CydiaSubstrate.framework/CydiaSubstrate", "CydiaSubstrate", "libsubstrate.dylib", "libsubstrate.0.dylib",
            "libsubstitute.dylib", "libsubstitute.0.dylib":
            self = .substrate
        case "libhooker.dylib", "libblackjack.dylib", "libhooker.framework/libhooker": self = .hooker
        case "libellekit.dylib", "ellekit.framework/ellekit", "ElleKit.framework/ElleKit": self = .ellekit
        default: return nil
        }
    }

    /// Its name for people.
    var name: String {
        switch self {
        case .substrate: "CydiaSubstrate"
        case .hooker: "libhooker"
        case .ellekit: "ElleKit"
        }
    }

    /// Which ones have the functions of this one, the best first.
    var speakers: [HookLibrary] { self == .ellekit ? [.ellekit] : [self, .ellekit] }
}

/// What is left of a library's path when the folder that it lies in does not matter: the file's name, or for a framework the
/// framework's and the file's.
func libraryKey(_ path: String) -> String {
    let parts = path.pathParts
    guard let last = parts.last else { return path }
    let suffix = ".framework"
    guard let framework = parts.dropLast().last(where: { $0.utf8.reversed().starts(with: suffix.utf8.reversed()) })
    else { return last }
    return framework + "/" + last
}
