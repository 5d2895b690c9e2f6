import FerryAppBundle
import FerryBytes
import FerryPropertyList
import FoundationEssentials

extension ProfileVerb {
    private static func kindText(_ kind: String) -> String {
        switch ProvisioningProfile.Kind(rawValue: kind) {
        case .development: "development"
        case .adHoc: "ad hoc"
        case .enterprise: "enterprise"
        case .appStore: "App Store"
        case nil: kind
        }
    }

    private static func lasting(_ profile: Report.Profile, _ marks: Marks) -> String {
        guard let days = profile.daysLeft else { return "at no date that a calendar has" }
        return (profile.isExpired ? marks.bad + " " : "") + lastingText(days)
    }

    /// All that each says.
    static func text(_ report: Report, _ marks: Marks) -> String {
        report.profiles.map { profile in
            ([(profile.name.isEmpty ? profile.uuid : profile.name).printable] + factLines(facts(of: profile, marks)))
                .joined(separator: "\n")
        }.joined(separator: "\n\n")
    }

    private static func facts(of profile: Report.Profile, _ marks: Marks) -> [(String, String?)] {
        var facts: [(String, String?)] = [
            ("file", profile.path.printable),
            ("kind", kindText(profile.kind)),
            ("app id", profile.applicationIdentifier.printable),
            ("team", (profile.team + (profile.teamName.map { ", \($0)" } ?? "")).printable),
            ("UUID", profile.uuid.printable),
            ("platforms", profile.platforms.isEmpty ? nil : profile.platforms.joined(separator: ", ").printable),
            ("created", profile.created.map(dayText)),
            ("expires", (profile.expires.map { dayText($0) + ", " } ?? "") + lasting(profile, marks)),
            ("devices", devicesText(profile)),
        ]
        facts += (profile.devices ?? []).map { ("", $0.printable) }
        facts.append(
            ("this device", profile.hasDevice.map { $0 ? "\(marks.good) may install" : "\(marks.bad) is not in it" })
        )
        facts.append(
            ("your signer", profile.hasCertificate.map { $0 ? "\(marks.good) is in it" : "\(marks.bad) is not in it" })
        )
        for (index, certificate) in profile.certificates.enumerated() {
            let end = certificate.daysLeft.map { ", " + lastingText($0) } ?? ""
            facts.append((index == 0 ? "certificates" : "", certificate.name.printable + end))
        }
        facts.append(("Xcode's own", profile.isXcodeManaged == true ? "yes, Xcode made it and may replace it" : nil))
        facts.append(
            ("PPQCheck", profile.isPPQChecked.map { $0 ? "yes, devices ask Apple at the first launch" : "no" })
        )
        facts.append(
            ("signed", profile.isSigned ? nil : "\(marks.bad) no: a bare property list, which no device takes")
        )
        for (index, (key, value)) in profile.entitlements.sorted().enumerated() {
            let text = "\(key) = \((try? jsonText(value)) ?? "")"
            facts.append((index == 0 ? "entitlements" : "", text.printable))
        }
        return facts
    }

    private static func devicesText(_ profile: Report.Profile) -> String {
        if profile.provisionsAllDevices { return "all" }
        return profile.deviceCount.map { "\($0)" } ?? "none, as it is for the App Store"
    }

    /// One line each, under headings.
    static func table(_ report: Report, _ marks: Marks) -> String {
        var headings = ["NAME", "KIND", "APP ID", "DEVICES", "LEFT"]
        let asksDevice = report.profiles.contains { $0.hasDevice != nil }
        let asksSigner = report.profiles.contains { $0.hasCertificate != nil }
        if asksDevice { headings.append("DEVICE") }
        if asksSigner { headings.append("SIGNER") }
        headings.append("FILE")
        let rows = report.profiles.map { profile in
            var row = [
                profile.name, kindText(profile.kind), profile.applicationIdentifier,
                profile.provisionsAllDevices ? "all" : profile.deviceCount.map { "\($0)" } ?? "none",
                profile.daysLeft.map { profile.isExpired ? "expired" : "\($0) d" } ?? "?",
            ]
            if asksDevice { row.append(profile.hasDevice == true ? "yes" : "no") }
            if asksSigner { row.append(profile.hasCertificate == true ? "yes" : "no") }
            return (row + [profile.path]).map(\.printable)
        }
        return tableLines([headings] + rows).joined(separator: "\n")
    }
}
