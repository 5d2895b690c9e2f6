import FerryAppBundle
import FerryCodeSignature
import FerryPropertyList

/// Gives an app an identifier that nobody else's copy has, and that stays the same for one app and one team.
///
/// Some profiles have `PPQCheck`: Apple's servers then ask about the identifiers that are installed under them. With the part
/// of its own an app is not taken for the one of the store, and an update goes over the copy of before.
enum UniqueIdentifier {
    private static let letters = Array("abcdefghijklmnopqrstuvwxyz234567")

    /// `x` and five letters or digits: 25 bits of the SHA-256 of identifier, a zero byte and team.
    static func part(of identifier: String, team: String) -> String {
        let digest = Digests(of: Array(identifier.utf8) + [0] + Array(team.utf8)).sha256
        let bits = digest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return "x" + String((0..<5).map { letters[Int(bits >> (27 - 5 * UInt32($0)) & 31)] })
    }

    /// Whether an identifier has its part already.
    static func hasPart(_ identifier: String, team: String) -> Bool {
        guard let dot = identifier.lastIndex(of: ".") else { return false }
        return part(of: String(identifier[..<dot]), team: team) == identifier[identifier.index(after: dot)...]
    }

    /// What an app is to be called.
    struct Choice {
        var identifier: String?
        var warning: String?
    }

    /// The identifier to sign with; `nil` for the old one.
    ///
    /// - Parameter original: the one in the archive, which the part is made from.
    static func choose(
        _ wish: SigningRecipe.UniqueID?,
        original: String,
        wanted: String?,
        team: String?,
        profiles: [ProvisioningProfile]
    ) -> Choice {
        let base = wanted ?? original
        guard let wish, wish != .never, let team, !hasPart(base, team: team) else { return Choice(identifier: wanted) }
        let unique = base + "." + part(of: original, team: team)
        if wish == .always { return Choice(identifier: unique) }
        guard let profile = ProvisioningProfile.best(for: base, among: profiles),
            profile.dictionary["PPQCheck"]?.bool == true
        else { return Choice(identifier: wanted) }
        guard ProvisioningProfile.best(for: unique, among: profiles) != nil else {
            return Choice(
                identifier: wanted,
                warning:
                    "The profile “\(profile.name)” asks for an identifier of its own (PPQCheck), but is for \(base) "
                    + "alone; it stays."
            )
        }
        return Choice(identifier: unique)
    }
}
