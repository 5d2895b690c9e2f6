import Dispatch
import TestKit

/// An archive that stands still in the middle until it is let go.
struct Quay: Sendable {
    let server: HTTPServer
    private let gate = DispatchSemaphore(value: 0)

    init(_ ferry: Command) throws {
        let file = ServedFile(try ferry.kit.folder.read("Heavy.ipa"))
        let gate = gate
        server = try HTTPServer { request in
            file.answer(request).with { response in
                guard request.number == 0 else { return }
                response.pauseAfter = 3_000_000
                response.waiting = { gate.wait() }
            }
        }
    }

    func letGo() { gate.signal() }
}
