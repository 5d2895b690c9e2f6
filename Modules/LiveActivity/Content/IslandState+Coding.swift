#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension IslandState: Codable {
    private enum Key: String, CodingKey {
        case seq
        case count
        case installedCount = "done"
        case failedCount = "failed"
        case stoppedCount = "stopped"
        case isDownloading = "loading"
        case percent = "pct"
        case barFraction = "bar"
        case downloadedBytes = "bytes"
        case totalBytes = "of"
        case finishAt
        case icon
        case items
        case hiddenCount = "more"
        case isHeld = "held"
        case needsTap = "tap"
    }

    /// Reads a state, also one of an older or newer program.
    ///
    /// Unknown keys are passed over, missing ones and `null` mean the default, numbers out of range are brought into it,
    /// an icon that is not base64 is none. A field of the wrong type is an ``IslandStateError`` with its path.
    public init(from decoder: any Decoder) throws {
        let fields = try Fields<Key>(decoder)
        let counts = 0...Self.maximumCount
        let bytes = 0...Self.maximumBytes
        self.init(
            seq: try fields.integer(.seq, in: counts) ?? 0,
            count: try fields.integer(.count, in: counts) ?? 0,
            installedCount: try fields.integer(.installedCount, in: counts) ?? 0,
            failedCount: try fields.integer(.failedCount, in: counts) ?? 0,
            stoppedCount: try fields.integer(.stoppedCount, in: counts) ?? 0,
            isDownloading: try fields.flag(.isDownloading) ?? false,
            percent: try fields.integer(.percent, in: 0...100),
            barFraction: try fields.number(.barFraction),
            downloadedBytes: try fields.integer(.downloadedBytes, in: bytes),
            totalBytes: try fields.integer(.totalBytes, in: bytes),
            finishAt: try fields.number(.finishAt).map { Date(timeIntervalSinceReferenceDate: $0) },
            icon: try fields.text(.icon).flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) },
            items: try fields.list(.items) ?? [],
            hiddenCount: try fields.integer(.hiddenCount, in: counts) ?? 0,
            isHeld: try fields.flag(.isHeld) ?? false,
            needsTap: try fields.flag(.needsTap) ?? false
        )
    }

    /// Writes what is not a default. The date is written as seconds since 2001 and the icon as base64 whatever the
    /// encoder's strategies are, for the phone decodes with the system's defaults.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(seq, forKey: .seq)
        try container.encode(count, forKey: .count)
        if installedCount > 0 { try container.encode(installedCount, forKey: .installedCount) }
        if failedCount > 0 { try container.encode(failedCount, forKey: .failedCount) }
        if stoppedCount > 0 { try container.encode(stoppedCount, forKey: .stoppedCount) }
        if isDownloading { try container.encode(true, forKey: .isDownloading) }
        try container.encodeIfPresent(percent, forKey: .percent)
        try container.encodeIfPresent(barFraction, forKey: .barFraction)
        try container.encodeIfPresent(downloadedBytes, forKey: .downloadedBytes)
        try container.encodeIfPresent(totalBytes, forKey: .totalBytes)
        try container.encodeIfPresent(finishAt.map { Int64($0.timeIntervalSinceReferenceDate) }, forKey: .finishAt)
        try container.encodeIfPresent(icon.map { Data($0).base64EncodedString() }, forKey: .icon)
        if !items.isEmpty { try container.encode(items, forKey: .items) }
        if hiddenCount > 0 { try container.encode(hiddenCount, forKey: .hiddenCount) }
        if isHeld { try container.encode(true, forKey: .isHeld) }
        if needsTap { try container.encode(true, forKey: .needsTap) }
    }
}
