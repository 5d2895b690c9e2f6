import FerryPropertyList

extension ProvisioningProfile {
    /// Everything for which nothing that this certificate signs is installed under this profile; empty where they fit.
    ///
    /// `seconds` is the date, counted from 1970-01-01T00:00:00Z. A `nil` is not looked at.
    public func problems(
        forSigner certificateDER: [UInt8],
        team: String? = nil,
        at seconds: Double? = nil
    ) -> [AppBundleError] {
        var problems = signatureProblems + certificateProblems(certificateDER) + dateProblems(at: seconds)
        if let team, !problems.isEmpty, !teamIdentifiers.isEmpty, !teamIdentifiers.contains(team) {
            problems.append(
                fault(
                    .profileLacksCertificate,
                    "it is of the team \(teamIdentifiers.joined(separator: ", ")), and the certificate of \(team).",
                    remedy: "Choose a profile and a certificate of one team."
                )
            )
        }
        return problems
    }

    /// Everything for which a device would refuse a bundle under this profile; empty where it fits.
    ///
    /// `seconds` is the date, counted from 1970-01-01T00:00:00Z. A `nil` is not looked at.
    public func problems(
        for bundleIdentifier: String,
        certificateDER: [UInt8]? = nil,
        at seconds: Double? = nil,
        platform: Platform? = nil,
        device: String? = nil
    ) -> [AppBundleError] {
        var problems: [AppBundleError] = []
        problems += signatureProblems
        if matches(bundleIdentifier: bundleIdentifier) == nil {
            problems.append(
                fault(
                    .profileWrongBundle,
                    "it is for \(bundlePattern), not for \(AppBundleError.printable(bundleIdentifier)).",
                    remedy: "Choose a profile for this identifier, or give the app one that the profile is for."
                )
            )
        }
        if let certificateDER { problems += certificateProblems(certificateDER) }
        problems += dateProblems(at: seconds)
        if let platform, !platforms.isEmpty,
            !platforms.contains(where: { given in
                platform.profileNames.contains { $0.lowercased() == given.lowercased() }
            })
        {
            problems.append(
                fault(
                    .profileWrongPlatform,
                    "it is for \(platforms.joined(separator: ", ")), and the app is for \(platform.rawValue).",
                    remedy: "Choose a profile for \(platform.rawValue)."
                )
            )
        }
        if let device { problems += self.problems(forDevice: device) }
        return problems
    }

    private var signatureProblems: [AppBundleError] {
        guard !isSigned else { return [] }
        return [
            fault(
                .profileUnsigned,
                "it is a bare property list without Apple's signature.",
                remedy: "Download the profile from developer.apple.com; no device takes one made by hand."
            )
        ]
    }

    private func certificateProblems(_ certificateDER: [UInt8]) -> [AppBundleError] {
        guard !developerCertificates.contains(certificateDER) else { return [] }
        let count = developerCertificates.count
        return [
            fault(
                .profileLacksCertificate,
                "the certificate that signs is not \(count == 1 ? "the one" : "among the \(count)") that it names.",
                remedy: "Make the profile anew with this certificate, or sign with one that it names."
            )
        ]
    }

    private func dateProblems(at seconds: Double?) -> [AppBundleError] {
        guard let seconds, let expiration, seconds >= expiration else { return [] }
        return [
            fault(
                .profileExpired,
                "it expired at \(PropertyListDate(secondsSince1970: expiration).text).",
                remedy: "Renew it on developer.apple.com."
            )
        ]
    }

    /// Why it is not for a device; empty where it is.
    public func problems(forDevice device: String) -> [AppBundleError] {
        guard !provisionsAllDevices else { return [] }
        guard let provisionedDevices else {
            return [
                fault(
                    .profileLacksDevice,
                    "it is for the App Store, and no device installs it directly.",
                    remedy: "Choose a development, ad hoc or enterprise profile."
                )
            ]
        }
        let wanted = device.lowercased()
        guard !provisionedDevices.contains(where: { $0.lowercased() == wanted }) else { return [] }
        return [
            fault(
                .profileLacksDevice,
                "the device \(AppBundleError.printable(device)) is not among the \(provisionedDevices.count) that it lists.",
                remedy: "Add the device on developer.apple.com and download the profile again."
            )
        ]
    }

    private func fault(_ code: AppBundleError.Code, _ problem: String, remedy: String) -> AppBundleError {
        AppBundleError(code, "the profile “\(name.isEmpty ? uuid : name)”", problem, remedy: remedy)
    }
}
