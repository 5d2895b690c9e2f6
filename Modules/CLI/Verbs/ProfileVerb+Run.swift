import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryPropertyList
import FoundationEssentials

extension ProfileVerb {
    /// What `--json` prints.
    struct Report: Encodable {
        struct Profile: Encodable {
            let path: String
            let name: String
            /// `development`, `adHoc`, `enterprise` or `appStore`.
            let kind: String
            let uuid: String
            let applicationIdentifier: String
            let bundlePattern: String
            let team: String
            let teamName: String?
            let platforms: [String]
            let created: Date?
            let expires: Date?
            let daysLeft: Int?
            let isExpired: Bool
            let isSigned: Bool
            let isXcodeManaged: Bool?
            let isPPQChecked: Bool?
            let provisionsAllDevices: Bool
            let deviceCount: Int?
            /// Left out without `--devices`.
            let devices: [String]?
            /// Left out without `--device`.
            let hasDevice: Bool?
            /// Left out without `--p12` and `--certificate`.
            let hasCertificate: Bool?
            let certificates: [Certificate]
            let entitlements: PropertyList.Dictionary
        }

        struct Certificate: Encodable {
            let name: String
            let team: String?
            let sha1: String
            let expires: Date?
            let daysLeft: Int?
        }

        let profiles: [Profile]
        let problems: [ProfileFiles.Problem]
    }

    static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        if arguments.isGiven("--p12"), arguments.isGiven("--certificate") {
            throw UsageError(
                .conflictingOptions,
                "--p12 and --certificate exclude each other.",
                advice: "Give one of them.",
                verb: verb.name
            )
        }
        let signer = try await signer(invocation)
        let files = try ProfileFiles(arguments.values("FILE"))
        let now = Int64(Date().timeIntervalSince1970)
        let report = Report(
            profiles: files.profiles.map { path, profile in
                Report.Profile(
                    path,
                    profile,
                    now: now,
                    signer: signer,
                    device: arguments.value("--device"),
                    listsDevices: arguments.flag("--devices")
                )
            },
            problems: files.problems
        )
        if !report.profiles.isEmpty || invocation.asData {
            let isLong = arguments.flag("--long") || report.profiles.count == 1
            let marks = Marks(invocation.console.output.hasStyle)
            try invocation.show(report, text: isLong ? text(report, marks) : table(report, marks))
        }
        if !invocation.asData {
            for problem in report.problems {
                invocation.console.report(
                    InputError(message: problem.message, remedy: problem.remedy, code: problem.code)
                )
            }
        }
        return report.problems.isEmpty ? .done : .failed
    }

    private static func signer(_ invocation: Invocation) async throws -> FerryCodeSignature.Certificate? {
        if let path = invocation.arguments.value("--p12") {
            return try await invocation.keyPair(pkcs12: InputFile.bytes(path), path).leaf
        }
        return try invocation.arguments.value("--certificate").flatMap { try invocation.certificates(in: $0).first }
    }
}

extension ProfileVerb.Report.Profile {
    init(
        _ path: String,
        _ profile: ProvisioningProfile,
        now: Int64,
        signer: Certificate?,
        device: String?,
        listsDevices: Bool
    ) {
        let end = profile.expiration.flatMap { calendarDate($0) }.map { Int64($0.timeIntervalSince1970.rounded(.down)) }
        self.init(
            path: path,
            name: profile.name,
            kind: profile.kind.rawValue,
            uuid: profile.uuid,
            applicationIdentifier: profile.applicationIdentifier,
            bundlePattern: profile.bundlePattern,
            team: profile.teamIdentifier,
            teamName: profile.teamName,
            platforms: profile.platforms,
            created: profile.creation.flatMap { calendarDate($0) },
            expires: profile.expiration.flatMap { calendarDate($0) },
            daysLeft: end.map { wholeDays(until: $0, now) },
            isExpired: profile.expiration.map { Double(now) >= $0 } ?? false,
            isSigned: profile.isSigned,
            isXcodeManaged: profile.dictionary["IsXcodeManaged"]?.bool,
            isPPQChecked: profile.dictionary["PPQCheck"]?.bool,
            provisionsAllDevices: profile.provisionsAllDevices,
            deviceCount: profile.provisionedDevices?.count,
            devices: listsDevices ? profile.provisionedDevices : nil,
            hasDevice: device.map { profile.problems(forDevice: $0).isEmpty },
            hasCertificate: signer.map { profile.developerCertificates.contains($0.der) },
            certificates: profile.developerCertificates.map { ProfileVerb.Report.Certificate($0, now) },
            entitlements: profile.entitlements
        )
    }
}

extension ProfileVerb.Report.Certificate {
    init(_ der: [UInt8], _ now: Int64) {
        let certificate = try? Certificate(der: der)
        self.init(
            name: certificate.map { $0.commonName ?? $0.subject } ?? "a certificate that cannot be read",
            team: certificate?.organizationalUnit,
            sha1: HashAlgorithm.sha1.digest(der).hex,
            expires: certificate.map { Date(timeIntervalSince1970: Double($0.notAfter)) },
            daysLeft: certificate.map { wholeDays(until: $0.notAfter, now) }
        )
    }
}
