import FerryBytes
import FerryDevice
import FerryInstalling
import Foundation
import StandInDevice
import TestKit
import Testing

/// A fault, and what is told of it.
struct Trouble: Sendable, CustomTestStringConvertible {
    let name: String
    let code: InstallError.Code
    /// What the error must say, message and remedy.
    let words: [String]
    var change: @Sendable (inout StandInFaults) -> Void

    /// Short where it is to be reached; pairing alone may take a busy machine some seconds.
    var stallLimit: Duration { code == .stalled ? .seconds(2) : .seconds(60) }

    var testDescription: String { name }

    init(
        _ name: String,
        _ code: InstallError.Code,
        _ words: [String],
        _ change: @escaping @Sendable (inout StandInFaults) -> Void
    ) {
        self.name = name
        self.code = code
        self.words = words
        self.change = change
    }

    static let all: [Trouble] = [
        Trouble("full", .room, ["sending the archive", "the device is full", "Make room"]) {
            $0.fullAfterBytes = 300_000
        },
        Trouble("short writes", .target, ["sending the archive", "bytes are there"]) { $0.keepsHalf = true },
        Trouble("folder", .target, ["making PublicStaging", "does not allow it"]) { $0.folderStatus = 10 },
        Trouble("afc", .target, ["making PublicStaging", "“internal error” (AFC 23)"]) { $0.folderStatus = 23 },
        Trouble("no afc", .target, ["starting afc", "no such service"]) { $0.missingService = "com.apple.afc" },
        Trouble("no proxy", .target, ["starting installation_proxy"]) {
            $0.missingService = "com.apple.mobile.installation_proxy"
        },
        Trouble("pulled while sending", .target, ["the connection ended while sending the archive", "cable"]) {
            $0.endsAfterBytes = 300_000
        },
        Trouble("pulled while installing", .target, ["the connection ended while InstallingApplication"]) {
            $0.endsAfterStatus = "InstallingApplication"
        },
        Trouble("pulled at the end", .target, ["the connection ended while GeneratingApplicationMap"]) {
            $0.endsAfterStatus = "GeneratingApplicationMap"
        },
        Trouble("stalls while sending", .stalled, ["nothing has come from it for 2 s", "sending the archive"]) {
            $0.stallsAfterBytes = 300_000
        },
        Trouble("stalls at 90 %", .stalled, ["the last was: GeneratingApplicationMap"]) {
            $0.stallsAfterStatus = "GeneratingApplicationMap"
        },
        Trouble("InvalidHostID", .target, ["does not trust this computer", "pair it anew"]) {
            $0.sessionError = "InvalidHostID"
        },
        Trouble("locked", .target, ["is locked", "Unlock it"]) { $0.sessionError = "PasswordProtected" },
        Trouble("stranger", .target, ["asks whether to trust", "Tap Trust"]) { $0.stranger = .pending },
        Trouble("denied", .target, ["should not trust", "tap Trust"]) { $0.stranger = .denied },
        Trouble("locked stranger", .target, ["is locked"]) { $0.stranger = .locked },
        Trouble("by cable alone", .target, ["pairs with no computer over the network", "by cable once"]) {
            $0.stranger = .cableOnly
        },
        Trouble("no TLS with lockdownd", .target, ["does not trust this computer, or no longer", "pair it anew"]) {
            $0.breaksSessionTLS = true
        },
        Trouble("no TLS with a service", .target, ["no encrypted connection could be made", "pair it anew"]) {
            $0.breaksServiceTLS = true
        },
        Trouble("nonsense", .target, ["looking for com.example.harbour"]) { $0.talksNonsense = true },
        Trouble("unknown", .target, ["FluxCapacitorEmpty", "Needs 1.21 GW"]) {
            $0.answer = .init("FluxCapacitorEmpty", description: "Needs 1.21 GW")
        },
    ]

    /// The names that a device answers with, and the numbers of its signature checks.
    static let answers: [(String, String?, Int64?, String)] = [
        ("ApplicationVerificationFailed", nil, nil, "ferry verify"),
        ("ApplicationVerificationFailed", nil, 0xE800_801C, "is not signed"),
        (
            "ApplicationVerificationFailed", "Failed : 0xe8008001 (An unknown error.)", nil,
            "unknown error of the signature"
        ),
        ("ApplicationVerificationFailed", nil, 0xE800_8012, "not for this device"),
        ("ApplicationVerificationFailed", nil, 0xE800_8015, "no profile that is good"),
        ("ApplicationVerificationFailed", nil, -402_620_394, "entitlements are more than the profile grants"),
        ("ApplicationVerificationFailed", nil, 0xE800_8017, "changed, added or removed"),
        ("ApplicationVerificationFailed", nil, 0xE800_8018, "certificate is not valid"),
        ("ApplicationVerificationFailed", nil, 0xE800_8029, "DER form"),
        ("AppexBundleIDNotPrefixed", nil, nil, "does not begin with the app's"),
        ("DeviceFamilyNotSupported", nil, nil, "another kind of device"),
        ("DeviceOSVersionTooLow", nil, nil, "needs a newer system"),
        ("IncorrectArchitecture", nil, nil, "no code for this processor"),
        ("PackageExtractionFailed", nil, nil, "Make room on the device"),
        ("PackageInspectionFailed", nil, nil, ".DS_Store"),
        ("APIInternalError", nil, nil, "Restart the device"),
        ("MismatchedApplicationIdentifierEntitlement", nil, nil, "ferry uninstall"),
        ("InvalidHostID", nil, nil, "pair it anew"),
        ("InstallProhibited", nil, nil, "Screen Time"),
    ]
}

@Suite(.timeLimit(.minutes(5)))
struct `Trouble with a device` {
    @Test(arguments: Trouble.all)
    func `is told with its step and what helps, and leaves no file`(trouble: Trouble) async throws {
        let phone = try Harbour.phone { trouble.change(&$0.faults) }
        defer { phone.disconnect() }
        let ending = try await phone.install(stallLimit: trouble.stallLimit)
        let error = try #require(ending.error)
        #expect(error.code == trouble.code, "\(error)")
        for word in trouble.words { #expect(error.description.contains(word), "\(error)") }
        #expect(error.remedy != nil || trouble.name == "nonsense")
        #expect(phone.leftovers == [])
        #expect(phone.apps == [])
    }

    @Test(arguments: Trouble.answers)
    func `that the device names is explained`(name: String, text: String?, detail: Int64?, word: String) async throws {
        let phone = try Harbour.phone {
            $0.faults.answer = StandInFaults.Answer(name, description: text, detail: detail)
        }
        defer { phone.disconnect() }
        let error = try #require(try await phone.install().error)
        #expect(error.message.hasPrefix("Anna's iPhone says \(name) while VerifyingApplication: "), "\(error)")
        #expect(error.description.contains(word), "\(error)")
        if let text { #expect(error.message.contains(text)) }
        #expect(error.remedy != nil)
        #expect(phone.leftovers == [])
    }

    @Test func `that vanished is told, too, though its file cannot be removed`() async throws {
        let phone = try Harbour.phone {
            $0.faults.endsAfterBytes = 300_000
            $0.faults.vanishes = true
        }
        let error = try #require(try await phone.install().error)
        #expect(error.message.contains("the connection ended while sending the archive"), "\(error)")
    }

    @Test func `of any kind, one after the other, leaks no socket`() async throws {
        let phone = try Harbour.phone()
        defer { phone.disconnect() }
        let before = socketCount()
        let installCount = 50
        for round in 0..<installCount {
            let trouble = round % 2 == 1 ? Trouble.all[round / 2 % Trouble.all.count] : nil
            phone.set { trouble?.change(&$0) }
            let ending = try await phone.install(stallLimit: trouble?.stallLimit ?? .seconds(60))
            #expect(ending.error?.code == trouble?.code, "\(round): \(ending.result)")
            for word in trouble?.words ?? [] { #expect(ending.error?.description.contains(word) == true) }
            #expect(phone.leftovers == [])
            #expect(try await phone.isLetGo(), "\(round) \(trouble?.name ?? "no trouble")")
        }
        // Means something only where no other test runs beside this one.
        print("\(installCount) installs: \(before) sockets open before, \(socketCount()) after")
    }
}
