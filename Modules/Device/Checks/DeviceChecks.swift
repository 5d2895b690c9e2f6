import FerryAppBundle
public import FerryBytes

/// Why a device would not take an app, and what helps.
public struct DeviceProblem: ExplainedError, Equatable {
    /// What kind of trouble it is.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// A profile does not list the device.
        case notInProfile
        /// The app has no profile, so no device takes it.
        case noProfile
        /// The system is older than the app wants.
        case systemTooOld
        /// The app is for another kind of device.
        case family
        /// The app is built for another system.
        case platform
        /// The app has no code for the device's processor.
        case architecture
        /// An app of this identifier is there, signed by another team.
        case otherTeam
        /// An app of this identifier is a part of the system.
        case systemApp
    }

    /// What kind of trouble it is.
    public let code: Code
    /// What is wrong, with the app's and the device's names.
    public let message: String
    /// What helps.
    public let remedy: String?

    init(_ code: Code, _ message: String, remedy: String) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }
}

/// What is checked of an app and a device before the first byte is sent.
public enum DeviceChecks {
    /// Everything for which `device` would not take `app`; empty where it would, as far as can be told beforehand.
    ///
    /// - Parameter installed: the app of this identifier that is on the device; `nil` for none.
    public static func problems(
        of app: AppFacts,
        on device: DeviceFacts,
        installed: DeviceApp? = nil
    ) -> [DeviceProblem] {
        profileProblems(app, device) + systemProblems(app, device) + familyProblems(app, device)
            + architectureProblems(app, device) + installedProblems(app, device, installed)
    }

    private static func profileProblems(_ app: AppFacts, _ device: DeviceFacts) -> [DeviceProblem] {
        guard !app.profiles.isEmpty else {
            return [
                DeviceProblem(
                    .noProfile,
                    "\(app.name): it has no provisioning profile, so \(device.title) does not take it.",
                    remedy: "Sign it with --p12 and --profile."
                )
            ]
        }
        var told: Set<String> = []
        return app.profiles.flatMap { part in
            part.profile.problems(forDevice: device.identifier).compactMap { problem in
                guard told.insert(problem.message).inserted else { return nil }
                return DeviceProblem(
                    .notInProfile,
                    "\(device.title): \(problem.message)",
                    remedy: problem.remedy ?? "Choose another profile."
                )
            }
        }
    }

    private static func systemProblems(_ app: AppFacts, _ device: DeviceFacts) -> [DeviceProblem] {
        if let wanted = app.platform, let own = device.platform, wanted != own,
            // This one runs iPhone apps, too.
            !(wanted == .iOS && own == .visionOS)
        {
            return [
                DeviceProblem(
                    .platform,
                    "\(app.name) is built for \(wanted.rawValue), and \(device.title) runs \(own.rawValue).",
                    remedy: "Get the app built for \(own.rawValue)."
                )
            ]
        }
        guard let system = device.systemVersion, device.platform != .visionOS || app.platform == .visionOS,
            let minimum = app.minimumOS.flatMap({ SystemVersion($0) }), system < minimum
        else { return [] }
        return [
            DeviceProblem(
                .systemTooOld,
                "\(app.name) needs \(app.platform?.rawValue ?? "iOS") \(minimum), and \(device.title) has \(system).",
                remedy: "Update the device, or take an older version of the app."
            )
        ]
    }

    private static func familyProblems(_ app: AppFacts, _ device: DeviceFacts) -> [DeviceProblem] {
        let own = device.families
        guard !own.isEmpty, !app.families.isEmpty, !app.families.contains(where: own.contains) else { return [] }
        let names: [Int64: String] = [1: "iPhone", 2: "iPad", 3: "Apple TV", 4: "Apple Watch", 7: "Apple Vision"]
        let wanted = app.families.map { names[$0] ?? "family \($0)" }.joined(separator: ", ")
        return [
            DeviceProblem(
                .family,
                "\(app.name) is for \(wanted) alone, and \(device.title) is an \(device.deviceClass ?? "other device").",
                remedy: "Sign it for this kind of device too (--devices), or get another build of it."
            )
        ]
    }

    private static func architectureProblems(_ app: AppFacts, _ device: DeviceFacts) -> [DeviceProblem] {
        guard let own = device.architecture, !app.architectures.isEmpty else { return [] }
        let runs: [String]
        if own.hasPrefix("arm64_32") {
            runs = ["arm64_32", "armv7"]
        } else if own.hasPrefix("arm64") {
            // iOS 11 was the first without 32-bit code.
            let is32BitToo = device.systemVersion.map { $0.major < 11 } ?? false
            runs = is32BitToo ? ["arm64", "armv7"] : ["arm64"]
        } else {
            runs = ["armv7"]
        }
        guard !app.architectures.contains(where: runs.contains) else { return [] }
        return [
            DeviceProblem(
                .architecture,
                "\(app.name) has code for \(app.architectures.joined(separator: ", ")) alone, and \(device.title) runs "
                    + "\(runs.joined(separator: ", ")).",
                remedy: app.architectures.allSatisfy { $0.hasPrefix("arm") }
                    ? "Get a newer version of the app." : "Get the app built for devices; this one is for a simulator."
            )
        ]
    }

    private static func installedProblems(
        _ app: AppFacts,
        _ device: DeviceFacts,
        _ installed: DeviceApp?
    ) -> [DeviceProblem] {
        guard let installed else { return [] }
        if installed.kind == "System" {
            return [
                DeviceProblem(
                    .systemApp,
                    "\(device.title): \(app.identifier) is a part of the system, which nothing replaces.",
                    remedy: "Sign the app with another --bundle-id."
                )
            ]
        }
        guard let there = installed.teamPrefix,
            let own = app.profiles.first?.profile.prefix, there != own
        else { return [] }
        return [
            DeviceProblem(
                .otherTeam,
                "\(device.title): \(app.identifier) is installed already, signed by the team \(there.printable); this one is "
                    + "of \(own).",
                remedy:
                    "Sign it with that team's identity or another --bundle-id, or remove the app, with all its data: "
                    + "ferry uninstall \(app.identifier) --device \(device.identifier)"
            )
        ]
    }
}
