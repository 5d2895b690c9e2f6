import FerryBytes
import FerryPropertyList
import FerryZip
import Foundation

/// installation_proxy over one connection.
struct AppTalk {
    /// What an install says on its way, and at how many percent.
    static let steps: [(status: String, percent: Int64)] = [
        ("CreatingStagingDirectory", 5), ("ExtractingPackage", 15), ("InspectingPackage", 20),
        ("TakingInstallLock", 20), ("PreflightingApplication", 30), ("InstallingEmbeddedProfile", 30),
        ("VerifyingApplication", 40), ("CreatingContainer", 50), ("InstallingApplication", 60),
        ("PostflightingApplication", 70), ("SandboxingApplication", 80), ("GeneratingApplicationMap", 90),
    ]

    let device: StandInDevice
    let wire: Wire
    let identifier: String

    func serve() throws {
        while true {
            let message = try wire.readMessage()
            let command = message["Command"]?.string ?? ""
            device.note(command, identifier)
            if device.faults(identifier).talksNonsense {
                try wire.write([0, 0, 0, 4] + Array("what".utf8))
                continue
            }
            switch command {
            case "Install", "Upgrade": try install(message)
            case "Uninstall": try uninstall(message["ApplicationIdentifier"]?.string ?? "")
            case "Lookup" where !device.faults(identifier).knowsNoLookup: try lookup(message)
            case "Browse": try browse(message)
            default: try wire.writeMessage(["Error": "UnknownCommand"])
            }
        }
    }

    private func lookup(_ message: PropertyList.Dictionary) throws {
        let wanted = message[path: "ClientOptions", "BundleIDs"]?.strings ?? []
        var found: PropertyList.Dictionary = [:]
        for app in device.phone(identifier)?.apps ?? [] where wanted.contains(app.identifier) {
            found[app.identifier] = .dictionary(app.dictionary)
        }
        try wire.writeMessage(["LookupResult": .dictionary(found), "Status": "Complete"])
    }

    private func browse(_ message: PropertyList.Dictionary) throws {
        let kind = message[path: "ClientOptions", "ApplicationType"]?.string ?? "Any"
        let apps = (device.phone(identifier)?.apps ?? []).filter { kind == "Any" || $0.kind == kind }
        // One by one, so that whoever reads only the first message is found out.
        for (index, app) in apps.enumerated() {
            try wire.writeMessage([
                "Status": "BrowsingApplications", "Total": .integer(Int64(apps.count)),
                "CurrentIndex": .integer(Int64(index)), "CurrentAmount": 1,
                "CurrentList": .array([.dictionary(app.dictionary)]),
            ])
        }
        try wire.writeMessage(["Status": "Complete"])
    }

    private func uninstall(_ bundle: String) throws {
        let faults = device.faults(identifier)
        try wire.writeMessage(["Status": "RemovingApplication", "PercentComplete": 50])
        if let answer = faults.answer { return try refuse(answer) }
        device.state.withLock { $0.phones[identifier]?.apps.removeAll { $0.identifier == bundle } }
        try wire.writeMessage(["Status": "Complete"])
    }

    private func install(_ message: PropertyList.Dictionary) throws {
        let faults = device.faults(identifier)
        let options = message["ClientOptions"]?.dictionary ?? [:]
        device.note("options " + options.keys.sorted().joined(separator: " "), identifier)
        let package = message["PackagePath"]?.string ?? ""
        guard let app = try? app(at: device.root(identifier) + "/" + package) else {
            return try refuse(.init("PackageExtractionFailed", description: "Could not extract archive \(package)"))
        }
        for step in Self.steps {
            var status: PropertyList.Dictionary = ["Status": .string(step.status)]
            if !faults.omitsPercents { status["PercentComplete"] = .integer(step.percent) }
            try wire.writeMessage(status)
            if faults.endsAfterStatus == step.status {
                device.pullCable(identifier)
                throw EndOfWire()
            }
            if faults.stallsAfterStatus == step.status {
                wire.stall()
                throw EndOfWire()
            }
            guard step.status == "VerifyingApplication" else { continue }
            if let answer = faults.answer { return try refuse(answer) }
            if let answer = verdict(on: app) { return try refuse(answer) }
        }
        device.state.withLock { state in
            state.phones[identifier]?.apps.removeAll { $0.identifier == app.app.identifier }
            state.phones[identifier]?.apps.append(app.app)
        }
        try wire.writeMessage(["Status": "Complete"])
    }

    private func verdict(on found: (app: StandInApp, isSigned: Bool)) -> StandInFaults.Answer? {
        guard found.isSigned else {
            return .init(
                "ApplicationVerificationFailed",
                description: "Failed to verify code signature of Payload : 0xe800801c (No code signature found.)",
                detail: 0xE800_801C
            )
        }
        let there = device.phone(identifier)?.apps.first { $0.identifier == found.app.identifier }
        guard let there, there.prefix != found.app.prefix else { return nil }
        return .init(
            "MismatchedApplicationIdentifierEntitlement",
            description: "Upgrade's application-identifier entitlement string does not match the installed one."
        )
    }

    private func refuse(_ answer: StandInFaults.Answer) throws {
        var message: PropertyList.Dictionary = ["Error": .string(answer.name)]
        message["ErrorDescription"] = answer.description.map { .string($0) }
        message["ErrorDetail"] = answer.detail.map { .integer($0) }
        try wire.writeMessage(message)
    }

    private func app(at path: String) throws -> (app: StandInApp, isSigned: Bool) {
        let source = try FileSource(path: path)
        let directory = try ZipDirectory(source)
        let names = directory.entries.map(\.name)
        func file(_ name: String) throws -> [UInt8]? {
            try directory.entry(named: name).map { try Inflater().contents(of: $0, in: source) }
        }
        let place = names.first { $0.hasSuffix(".app/Info.plist") && $0.split(separator: "/").count == 3 }
        guard let place, let bytes = try file(place), let info = try PropertyList.parse(bytes).value.dictionary,
            let bundle = info["CFBundleIdentifier"]?.string
        else { throw EndOfWire() }
        let folder = String(place.dropLast("Info.plist".count))
        var prefix = "UNKNOWN"
        if let profile = try file(folder + "embedded.mobileprovision") {
            // The list lies in its signature as it is.
            let text = String(decoding: profile, as: UTF8.self)
            if let start = text.range(of: "<?xml"), let end = text.range(of: "</plist>"),
                let list = try? PropertyList.parse(Array(text[start.lowerBound..<end.upperBound].utf8)).value,
                let first = list["ApplicationIdentifierPrefix"]?.strings?.first
            {
                prefix = first
            }
        }
        let app = StandInApp(
            identifier: bundle,
            name: info["CFBundleDisplayName"]?.string ?? info["CFBundleName"]?.string ?? bundle,
            version: info["CFBundleShortVersionString"]?.string ?? "1",
            prefix: prefix
        )
        return (app, names.contains(folder + "_CodeSignature/CodeResources"))
    }
}
