import FerryAPNs
import FerryBytes
import FerryStandInAPNs

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// nghttp2's own load generator, measured on the same service with the same push.
struct H2Load {
    /// The body of every push: about what an update with two installs has.
    static let body = Array(
        (#"{"aps":{"timestamp":1750000000,"event":"update","content-state":{"seq":1234,"phase":"downloading","#
            + #""items":[{"n":"Harbour","p":41},{"n":"Lighthouse","p":12}],"hiddenCount":0,"finishAt":772000300}}}"#)
            .utf8
    )

    private let command: String

    /// `nil` where h2load is not installed, or cannot be told what to send.
    init?(_ service: StandInProcess, _ key: ProviderKey) {
        let folders = (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":")
        guard folders.contains(where: { access($0 + "/h2load", X_OK) == 0 }),
            let bearer = try? ProviderToken(key, issuedAt: Int64(time(nil))),
            (try? WholeFile.write(Self.body, to: service.path("body.json"))) != nil
        else { return nil }
        let headers = [
            "authorization: bearer \(bearer.revealed)",
            "apns-topic: \(StandInCredentials.bundleID).push-type.liveactivity", "apns-push-type: liveactivity",
            "apns-priority: 5", "apns-expiration: 0", "apns-id: 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0",
        ]
        // It cannot give each push an id of its own, as we must: its token is as much longer instead.
        let token = String(repeating: "0", count: 63 + 36) + "1"
        command =
            "h2load -c 1 -t 1 -n {n} -m {m} -d \(service.path("body.json")) "
            + headers.map { "-H '\($0)' " }.joined() + "https://localhost:\(service.port)/3/device/\(token)"
            + " | grep -q ' {n} succeeded, 0 failed'"
    }

    /// Runs it once; `nil` where it fails.
    func run(requests: Int, streams: Int) throws -> BenchAPNs.Sample? {
        let line = command.replacing("{n}", with: "\(requests)").replacing("{m}", with: "\(streams)")
        guard let cost = Rival("h2load=" + line).flatMap({ rival in try? rival.run(input: "", output: "/nonexistent") })
        else {
            return nil
        }
        return BenchAPNs.Sample(wall: cost.wall, process: cost.processor)
    }
}
