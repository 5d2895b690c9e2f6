/// What the holder of a token may do.
package enum Role: String, Sendable, Hashable, CaseIterable {
    /// Everything.
    case admin
    /// Look, and change nothing.
    case viewer
    /// Report what a phone and its app see.
    case device

    /// Whether that is enough for a call that needs `need`.
    func may(_ need: Need) -> Bool {
        switch (self, need) {
        case (.admin, _), (.viewer, .viewer), (.device, .device): true
        default: false
        }
    }
}

/// What a call needs.
enum Need: Sendable {
    case viewer, admin, device

    /// In words, for who lacks it.
    var words: String {
        switch self {
        case .viewer: "viewer or admin"
        case .admin: "admin"
        case .device: "device or admin"
        }
    }
}
