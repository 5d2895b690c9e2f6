import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryPropertyList

/// What a device asks of the bundles of an app beyond their signatures.
struct InstallRules {
    let tree: BundleTree
    let code: [ArchiveVerifier.CodeFile]
    /// In seconds since 1970.
    let now: Int64
    /// The device's UDID, which profiles must list; `nil` for any.
    let deviceIdentifier: String?
    /// By path.
    private let bundles: [EntryName: Bundle]
    private let reports: [EntryName: [ImageVerifier.Report]]

    init(tree: BundleTree, code: [ArchiveVerifier.CodeFile], now: Int64, deviceIdentifier: String? = nil) {
        self.tree = tree
        self.code = code
        self.now = now
        self.deviceIdentifier = deviceIdentifier
        bundles = Dictionary(tree.bundles.map { (EntryName($0.path), $0) }) { one, _ in one }
        reports = Dictionary(code.map { (EntryName($0.path), $0.images.map(\.report)) }) { one, _ in one }
    }

    /// Checks profiles, entitlements, identifiers and signers.
    ///
    /// - Parameter profiles: those that are embedded, by their bundle's path.
    func faults(profiles: [String: ProvisioningProfile]) -> [Fault] {
        var faults = signerFaults()
        for bundle in tree.root.deepestFirst() where bundle.kind.hasProfile {
            faults += identifierFaults(bundle)
            // A signature without a signer needs no profile; nor would one help it.
            let reports = reports(of: bundle)
            guard reports.contains(where: { !$0.isAdHoc }) else { continue }
            guard let profile = profiles[bundle.path] else {
                faults.append(
                    Fault(
                        .profileMissing,
                        at: bundle.profilePath,
                        "There is no provisioning profile that can be read.",
                        remedy: "Sign the archive again."
                    )
                )
                continue
            }
            let signer = reports.lazy.compactMap(\.message?.signer).first
            let problems = profile.problems(
                for: bundle.identifier ?? "",
                certificateDER: signer?.der,
                at: Double(now),
                platform: bundle.info.platform,
                device: deviceIdentifier
            )
            faults += problems.map { Fault($0.faultCode, at: bundle.path, $0.message, remedy: $0.remedy) }
            faults += teamFaults(reports, profile, bundle)
            faults += reports.flatMap { entitlementFaults($0, profile, bundle) }
        }
        return faults
    }

    private func reports(of bundle: Bundle) -> [ImageVerifier.Report] {
        bundle.executable.flatMap { reports[EntryName($0)] } ?? []
    }

    private func identifierFaults(_ bundle: Bundle) -> [Fault] {
        guard let container = bundle.container.flatMap({ bundles[EntryName($0)] }), let host = container.identifier,
            let own = bundle.identifier, !own.hasPrefix(host + ".")
        else { return [] }
        return [
            Fault(
                .identifierNotUnderHost,
                at: bundle.path,
                "Its identifier \(own) is not below its host's, \(host).",
                remedy: "Sign the archive again; extensions are given their host's identifier by default."
            )
        ]
    }

    private func teamFaults(
        _ reports: [ImageVerifier.Report],
        _ profile: ProvisioningProfile,
        _ bundle: Bundle
    ) -> [Fault] {
        let teams = Set(reports.flatMap { $0.directories.compactMap(\.team) })
        return teams.subtracting(profile.teamIdentifiers).sorted().compactMap { team in
            guard !profile.teamIdentifiers.isEmpty else { return nil }
            return Fault(
                .profileMismatch,
                at: bundle.path,
                "It is signed by team \(team), but its profile is of team \(profile.teamIdentifier).",
                remedy: "Sign with a profile and a certificate of one team."
            )
        }
    }

    private func entitlementFaults(
        _ report: ImageVerifier.Report,
        _ profile: ProvisioningProfile,
        _ bundle: Bundle
    ) -> [Fault] {
        let identifier = bundle.identifier ?? ""
        guard let entitlements = report.entitlements else {
            return [
                Fault(
                    .applicationIdentifier,
                    at: bundle.path,
                    "The executable has no entitlements.",
                    remedy: "Sign the archive again."
                )
            ]
        }
        var faults: [Fault] = []
        let own = entitlements[EntitlementsPlan.applicationIdentifierKey]?.string
        if own != profile.prefix + "." + identifier {
            faults.append(
                Fault(
                    .applicationIdentifier,
                    at: bundle.path,
                    "Its application identifier is \(own ?? "missing"), not \(profile.prefix).\(identifier).",
                    remedy: "Sign the archive again."
                )
            )
        }
        let plan = EntitlementsPlan.plan(
            requested: nil,
            profile: profile,
            newIdentifier: identifier,
            override: entitlements
        )
        faults += plan.problems.map { Fault($0.faultCode, at: bundle.path, $0.message, remedy: $0.remedy) }
        return faults
    }

    private func signerFaults() -> [Fault] {
        let signers = Set(code.flatMap { $0.images.compactMap(\.report.message?.signer) })
        var faults: [Fault] = []
        if signers.count > 1 {
            let names = signers.map { $0.commonName ?? $0.subject }.sorted().joined(separator: ", ")
            faults.append(
                Fault(
                    .severalSigners,
                    at: tree.root.path,
                    "The code is signed by \(signers.count) identities: \(names).",
                    remedy: "Sign the archive again, all of it with one."
                )
            )
        }
        return faults + SignerRules(code: code, place: tree.root.path, now: now).validityFaults()
    }
}
