import FerryActivity

/// How installs ended, for those who ask late; the oldest are forgotten.
struct EndedInstalls {
    /// How many are kept.
    static let limit = 1000

    private var results: [InstallID: Result<InstallResult, any Error>] = [:]
    private var order: [InstallID] = []

    /// How many there are.
    var count: Int { results.count }

    subscript(_ id: InstallID) -> Result<InstallResult, any Error>? { results[id] }

    mutating func add(_ id: InstallID, _ result: Result<InstallResult, any Error>) {
        results[id] = result
        order.removeAll { $0 == id }
        order.append(id)
        if order.count > Self.limit { results[order.removeFirst()] = nil }
    }

    /// Forgets an install that is begun again.
    mutating func forget(_ id: InstallID) {
        results[id] = nil
        order.removeAll { $0 == id }
    }
}
