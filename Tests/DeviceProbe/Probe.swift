import FerryDevice
import FerryInstalling
import Foundation

/// Installs an archive on a device as it is, and says how much memory and how many sockets that took.
///
/// `ferry-device-probe ARCHIVE [UDID]`: `ferry install` alone would sign it first.
enum Probe {
    static func run() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard let archive = arguments.first else {
            print("Usage: ferry-device-probe ARCHIVE [UDID]")
            exit(2)
        }
        let target = DeviceTarget(identifier: arguments.count > 1 ? arguments[1] : nil)
        let before = socketCount()
        do {
            let app = try await target.install(archive) { event in
                guard case .step(let step) = event else { return }
                print(step)
            }
            print("installed \(app.identifier) on \(app.location)")
        } catch {
            print("\(error)")
        }
        print("sockets \(before) \(socketCount())")
        print("peak \(peakKilobytes()) kB")
    }

    private static func peakKilobytes() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
    }

    private static func socketCount() -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.filter { name in
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)
            return path?.hasPrefix("socket:") == true
        }.count
    }
}
