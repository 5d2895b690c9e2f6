/// Where an install is on its way.
///
/// The order is the usual one; a stage may be left out (a file that is already here is not downloaded), and a retry
/// goes back.
public enum Stage: String, Sendable, Codable, CaseIterable {
    /// It is known, and nothing is done for it yet.
    case waiting
    /// Its archive is fetched.
    case downloading
    /// It is signed and packed.
    case signing
    /// It is handed to its target.
    case installing
    /// It has an ``Outcome``.
    case finished
}

/// How far the current stage is.
public struct StageProgress: Sendable, Hashable {
    /// What ``completed`` and ``total`` count.
    public enum Unit: String, Sendable, Codable {
        /// Bytes of a file. Only these have a rate.
        case bytes
        /// Steps of work, all taken as equally long.
        case steps
    }

    /// How much is done.
    public var completed: Int64
    /// How much there is; `nil` where nobody knows.
    public var total: Int64?
    /// What both count.
    public var unit: Unit

    /// Takes the numbers as they are; ``fraction`` copes with any.
    public init(completed: Int64, total: Int64?, unit: Unit) {
        self.completed = completed
        self.total = total
        self.unit = unit
    }

    /// `completed` bytes of `total`.
    public static func bytes(_ completed: Int64, of total: Int64?) -> StageProgress {
        StageProgress(completed: completed, total: total, unit: .bytes)
    }

    /// `completed` steps of `total`.
    public static func steps(_ completed: Int64, of total: Int64?) -> StageProgress {
        StageProgress(completed: completed, total: total, unit: .steps)
    }

    /// From 0 to 1, whatever the numbers are; `nil` without a positive total.
    public var fraction: Double? {
        guard let total, total > 0 else { return nil }
        return min(max(Double(completed) / Double(total), 0), 1)
    }

    /// How much is left, at least 0; `nil` without a total.
    public var remaining: Int64? {
        guard let total else { return nil }
        let (left, overflow) = total.subtractingReportingOverflow(completed)
        return overflow ? nil : max(left, 0)
    }
}

/// The short name, for files that do not import Foundation, which has a `Progress` too.
public typealias Progress = StageProgress
