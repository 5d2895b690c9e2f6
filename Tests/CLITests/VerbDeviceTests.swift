import Foundation
import StandInDevice
import TestKit
import Testing

/// The command, and devices that it finds.
private struct Dock {
    let ferry: Command
    let device: StandInDevice

    /// Connects the first of the kit's devices, as many as are wanted.
    init(_ count: Int = 1, _ change: (inout StandInPhone) -> Void = { _ in }) throws {
        ferry = try Command()
        device = try StandInDevice(socketPath: ferry.home.path("mux"), folder: ferry.home.path("files"))
        for (index, identifier) in Kit.devices.prefix(count).enumerated() {
            var phone = StandInPhone(identifier: identifier, name: index == 0 ? "Anna's iPhone" : "Spare")
            change(&phone)
            try device.connect(phone)
        }
    }

    func run(_ arguments: [String], input: String = "") async throws -> Tool.Result {
        try await ferry.run(
            arguments,
            input: input,
            environment: ["USBMUXD_SOCKET_ADDRESS": "UNIX:" + ferry.home.path("mux")]
        )
    }

    func install(_ more: [String], to target: String = "device", profile: String = "device") async throws -> Tool.Result
    {
        var hands = ferry.kit.hands()
        hands[hands.count - 1] = ferry.kit.path(profile + ".mobileprovision")
        return try await run(["install", ferry.kit.path("Harbour.ipa")] + hands + ["--to", target] + more)
    }

    func apps(_ index: Int = 0) -> [StandInApp] { device.phone(Kit.devices[index])?.apps ?? [] }
    var leftovers: [String] { Kit.devices.flatMap { device.files($0) }.filter { $0.hasSuffix(".ipa") } }
}

@Suite(.serialized, .enabled(if: Python.exists, "python3 is not installed"), .timeLimit(.minutes(10)))
struct `ferry install to a device` {
    @Test(arguments: ["device", "device:" + Kit.devices[0], "device:00008110000a11223344801e"])
    func `signs an app and installs it`(target: String) async throws {
        let dock = try Dock()
        defer { dock.device.stop() }
        let log = try dock.ferry.out("log.json")
        let result = try await dock.install(["--reporter", "json:" + log], to: target)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text == "Anna's iPhone\n")
        #expect(dock.apps().map(\.identifier) == ["com.example.harbour"])
        #expect(dock.leftovers == [])
        let told = String(decoding: try dock.ferry.home.read("out/log.json"), as: UTF8.self)
        #expect(told.contains("VerifyingApplication"))
    }

    @Test func `says which devices there are where none was named, before anything else is done`() async throws {
        let dock = try Dock(2)
        defer { dock.device.stop() }
        let result = try await dock.install([])
        #expect(result.status == 1)
        #expect(result.errors.contains("2 devices are connected: \(Kit.devices[0]) (usb), \(Kit.devices[1]) (usb)."))
        #expect(dock.ferry.files(in: "state/ferry/work") == [])
        let named = try await dock.install(["--json"], to: "device:" + Kit.devices[1])
        #expect(named.status == 0, "\(named.errors)")
        #expect(try await Python.value(named.output, "location") == "Spare")
        #expect(dock.apps(1).count == 1 && dock.apps(0).isEmpty)
    }

    @Test func `is refused with 3 where the profile is for other devices`() async throws {
        let dock = try Dock()
        defer { dock.device.stop() }
        let result = try await dock.install([], profile: "good")
        #expect(result.status == 3, "\(result.errors)")
        #expect(result.errors.contains("no device installs it directly"))
        #expect(!dock.device.log(Kit.devices[0]).contains { $0.hasPrefix("open") })
    }

    @Test func `goes on with ferry resume where the device refused it`() async throws {
        let dock = try Dock { $0.faults.answer = .init("APIInternalError") }
        defer { dock.device.stop() }
        let failed = try await dock.install(["--json"], to: "device:" + Kit.devices[0])
        #expect(failed.status == 1)
        #expect(failed.text.contains("Restart the device"))
        let identifier = try await Python.value(failed.output, "id")
        let jobs = try await dock.run(["jobs", "--all", "--json"])
        #expect(jobs.text.contains("device:" + Kit.devices[0]))
        dock.device.setFaults(StandInFaults(), of: Kit.devices[0])
        let resumed = try await dock.run(["resume", identifier])
        #expect(resumed.status == 0, "\(resumed.errors)")
        #expect(dock.apps().count == 1)
        #expect(dock.leftovers == [])
    }

    @Test func `goes on with the same device where another one is at the cable`() async throws {
        let dock = try Dock { $0.faults.endsAfterStatus = "InstallingApplication" }
        defer { dock.device.stop() }
        let failed = try await dock.install(["--json"])
        #expect(failed.status == 1)
        let identifier = try await Python.value(failed.output, "id")
        dock.device.disconnect(Kit.devices[0])
        try dock.device.connect(StandInPhone(identifier: Kit.devices[1], name: "Spare"))
        let nothing = try await dock.run(["resume"])
        #expect(
            nothing.errors
                == "Nothing was stopped on its way. One failed: “ferry resume \(identifier)” tries it again.\n"
        )
        let elsewhere = try await dock.run(["resume", identifier])
        #expect(elsewhere.status == 1)
        #expect(elsewhere.errors.contains("The device \(Kit.devices[0]) is not connected"), "\(elsewhere.errors)")
        #expect(dock.apps(1).isEmpty)
        try dock.device.connect(StandInPhone(identifier: Kit.devices[0], name: "Anna's iPhone"))
        let resumed = try await dock.run(["resume", identifier])
        #expect(resumed.status == 0, "\(resumed.errors)")
        #expect(dock.apps(0).count == 1 && dock.apps(1).isEmpty)
        #expect(dock.leftovers == [])
    }

    @Test func `takes two apps in one call, and two calls at once, to one device and to two`() async throws {
        let dock = try Dock(2)
        defer { dock.device.stop() }
        let heavy = dock.ferry.kit.path("Heavy.ipa")
        async let first = dock.install([heavy], to: "device:" + Kit.devices[0])
        async let second = dock.install([], to: "device:" + Kit.devices[0])
        async let third = dock.install([], to: "device:" + Kit.devices[1])
        for result in try await [first, second, third] { #expect(result.status == 0, "\(result.errors)") }
        let opened = dock.device.log(Kit.devices[0]).filter { $0.hasPrefix("open ") }
        #expect(opened.count == 3 && Set(opened).count == 3)
        #expect(dock.apps(0).map(\.identifier) == ["com.example.harbour"])
        #expect(dock.apps(1).map(\.identifier) == ["com.example.harbour"])
        #expect(dock.leftovers == [])
    }

    @Test func `ends with 130 and leaves no file when it is interrupted`() async throws {
        let dock = try Dock { $0.faults.stallsAfterStatus = "GeneratingApplicationMap" }
        defer { dock.device.stop() }
        let ended = try await onThread { [ferry = dock.ferry, device = dock.device] in
            let arguments = [
                "install", ferry.kit.path("Harbour.ipa"), "--p12", ferry.kit.path("good.p12"), "--password-file",
                ferry.kit.path("password.txt"), "--profile", ferry.kit.path("device.mobileprovision"), "--to", "device",
            ]
            let running = try ferry.start(
                arguments,
                environment: ["USBMUXD_SOCKET_ADDRESS": "UNIX:" + ferry.home.path("mux")]
            )
            let isThere = running.waits { device.log(Kit.devices[0]).contains("Install") }
            let ended = try running.end(with: SIGINT)
            #expect(isThere, "\(ended.errors)")
            return ended
        }
        #expect(ended.status == 130, "\(ended.errors)")
        #expect(dock.leftovers == [])
        #expect(dock.apps().isEmpty)
    }
}

@Suite(.serialized, .enabled(if: Python.exists, "python3 is not installed"), .timeLimit(.minutes(10)))
struct `ferry devices, apps and uninstall` {
    @Test func `show what is connected and installed, and remove it`() async throws {
        let dock = try Dock(2) { phone in
            phone.apps = [
                .init(identifier: "com.example.harbour", name: "Harbour", version: "1.0", prefix: "TEAM123456")
            ]
        }
        defer { dock.device.stop() }
        let devices = try await dock.run(["devices"])
        #expect(
            devices.text == """
                Anna's iPhone  iPhone14,5  iOS 17.5.1  00008110-000A11223344801E  usb  paired  84 %, charging
                Spare          iPhone14,5  iOS 17.5.1  00008030-000A11223344802E  usb  paired  84 %, charging

                """
        )
        let data = try await dock.run(["devices", "--json"])
        #expect(try await Python.value(data.output, "1.udid") == Kit.devices[1])
        #expect(try await Python.value(data.output, "0.batteryPercent") == "84")
        let apps = try await dock.run(["apps", "--device", Kit.devices[0]])
        #expect(apps.text == "Harbour  com.example.harbour  1.0 (1.0)  TEAM123456\n")
        let several = try await dock.run(["apps"])
        #expect(several.status == 1 && several.errors.contains("2 devices are connected"))

        let removal = ["uninstall", "com.example.harbour", "--device", Kit.devices[0]]
        let unasked = try await dock.run(removal)
        #expect(unasked.status == 2 && unasked.errors.contains("Give --yes"))
        #expect(dock.apps().count == 1)
        let removed = try await dock.run(removal + ["--yes"])
        #expect(removed.status == 0)
        #expect(removed.text == "Harbour is removed from Anna's iPhone\n")
        #expect(dock.apps().isEmpty && dock.apps(1).count == 1)
        let gone = try await dock.run(removal + ["--yes"])
        #expect(gone.status == 1 && gone.errors.contains("com.example.harbour is not installed there"))
    }

    @Test func `say what is wrong where there is no device, or nobody who leads to one`() async throws {
        let dock = try Dock(0)
        let none = try await dock.run(["devices"])
        #expect(none.status == 0 && none.text == "no device is connected\n")
        let install = try await dock.install([])
        #expect(install.status == 1 && install.errors.contains("No device is connected."))
        dock.device.stop()
        let nobody = try await dock.run(["devices"])
        #expect(nobody.status == 1 && nobody.errors.contains("usbmuxd cannot be reached"), "\(nobody.errors)")
    }

    @Test func `show a device that is not paired without asking its owner`() async throws {
        let dock = try Dock { $0.faults.stranger = .pending }
        defer { dock.device.stop() }
        let devices = try await dock.run(["devices"])
        #expect(devices.text.contains("not paired"))
        let apps = try await dock.run(["apps"])
        #expect(apps.status == 1 && apps.errors.contains("Tap Trust"))
    }

    @Test func `install of a list the newest version that the device runs`() async throws {
        let market = try Market()
        market.serve(Market.mixed)
        let device = try StandInDevice(
            socketPath: market.ferry.home.path("mux"),
            folder: market.ferry.home.path("files")
        )
        defer { device.stop() }
        try device.connect(StandInPhone(identifier: Kit.devices[0], name: "Anna's iPhone"))
        var way = market.way
        if let index = way.firstIndex(of: "--to") { way[index + 1] = "device" }
        let result = try await market.ferry.run(
            ["install", "--source", market.url, "com.example.harbour"] + way,
            environment: ["USBMUXD_SOCKET_ADDRESS": "UNIX:" + market.ferry.home.path("mux")]
        )
        // 3.0 needs iOS 18.
        #expect(result.errors.contains("instead of 3.0"), "\(result.errors)")
    }

    @Test func `look for newer versions of what is installed`() async throws {
        let market = try Market()
        market.serve(Market.mixed)
        let device = try StandInDevice(
            socketPath: market.ferry.home.path("mux"),
            folder: market.ferry.home.path("files")
        )
        defer { device.stop() }
        var phone = StandInPhone(identifier: Kit.devices[0], name: "Anna's iPhone")
        phone.system = "26.1"
        phone.apps = [.init(identifier: "com.example.harbour", name: "Harbour", version: "1.2", prefix: "TEAM123456")]
        try device.connect(phone)
        let result = try await market.ferry.run(
            ["updates", "device", "--source", market.url, "--json"],
            environment: ["USBMUXD_SOCKET_ADDRESS": "UNIX:" + market.ferry.home.path("mux")]
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(try await Python.value(result.output, "updates.0.version") == "1.2")
        #expect(try await Python.value(result.output, "updates.0.newest.version") == "3.0")
    }
}
