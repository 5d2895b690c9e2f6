import FerryActivity
import Foundation

/// An install that nothing is behind, to look at the island with. A real app sends the events of its own downloads.
enum Demo {
    static func install(in center: ActivityCenter) async {
        let id = InstallID(UUID().uuidString)
        let size: Int64 = 48_000_000
        await center.send(.added(id, title: "Delta"))
        await center.send(.stage(id, .downloading))
        var done: Int64 = 0
        while done < size {
            try? await Task.sleep(for: .milliseconds(250))
            let isHeld = await center.activity.installs.first { $0.id == id }?.isHeld ?? false
            if !isHeld { done = min(done + 600_000, size) }
            await center.send(.progress(id, .bytes(done, of: size)))
        }
        for stage in [Stage.signing, .installing] {
            await center.send(.stage(id, stage))
            try? await Task.sleep(for: .seconds(3))
        }
        await center.send(.finished(id, .installed(location: nil)))
    }
}
