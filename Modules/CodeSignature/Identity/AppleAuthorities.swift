import FerryBytes

/// Where Apple publishes the certificates of its authorities: https://www.apple.com/certificateauthority/
///
/// The intermediates say the address of no root, and identities exported without their chain are common.
enum AppleAuthorities {
    private static let folder = "https://www.apple.com/certificateauthority/"

    /// SHA-256 of the roots' certificates: Apple Root CA, and its G2 and G3.
    static let rootFingerprints: Set<String> = [
        "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024",
        "c2b9b042dd57830e7d117dac55ac8ae19407d38e41d88f3215bc3a890444a050",
        "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179",
    ]

    /// The address for an issuer of that name; `nil` for one that is not Apple's, or not known.
    static func address(of issuer: CertificateName) -> String? {
        guard issuer.organization == "Apple Inc.", let commonName = issuer.commonName else { return nil }
        switch commonName {
        case "Apple Root CA": return "https://www.apple.com/appleca/AppleIncRootCertificate.cer"
        case "Apple Root CA - G2": return folder + "AppleRootCA-G2.cer"
        case "Apple Root CA - G3": return folder + "AppleRootCA-G3.cer"
        case "Apple Worldwide Developer Relations CA - G2": return folder + "AppleWWDRCAG2.cer"
        case "Apple Worldwide Developer Relations Certification Authority":
            // OU is G3, G4, …; the one without a generation has expired.
            return issuer.generation.map { folder + "AppleWWDRCA\($0).cer" }
        case "Developer ID Certification Authority":
            return folder + (issuer.generation == "G2" ? "DeveloperIDG2CA.cer" : "DeveloperIDCA.cer")
        default: return nil
        }
    }
}

extension Certificate {
    /// Whether it is one of the roots that Apple publishes.
    public var isAppleRoot: Bool { AppleAuthorities.rootFingerprints.contains(fingerprint(.sha256).hex) }
}

/// The parts of a distinguished name that authorities are known by.
struct CertificateName: Sendable, Hashable {
    let commonName: String?
    let organization: String?
    let organizationalUnit: String?

    /// `OU`, if it is like `G3`.
    var generation: String? {
        guard let unit = organizationalUnit, unit.count <= 3, unit.first == "G", unit.count > 1,
            unit.dropFirst().allSatisfy({ ("0"..."9").contains($0) })
        else { return nil }
        return unit
    }

    /// The common name, and the generation where Apple has several of that name.
    var short: String? {
        commonName.map { name in name + (generation.map { " " + $0 } ?? "") }
    }
}
