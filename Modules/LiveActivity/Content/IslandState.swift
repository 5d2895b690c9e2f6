#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a Live Activity shows of every install: the content state, one type for app, widget and server.
///
/// Every value of it can be shown and encoded: what does not fit together is set right when it is made, from wherever
/// it comes. It takes about 300 bytes of JSON, at the most 2,600 without ``icon``. What goes out is brought under the
/// system's 4 KB by ``fitted(within:)`` and ``LiveActivityPush/encode(limit:)``.
public struct IslandState: Sendable, Hashable {
    /// How many installs are listed.
    public static let maximumItems = 4
    /// How many there may be of anything that is counted, and the highest ``seq``.
    public static let maximumCount = 500_000_000
    /// The largest ``icon`` that a push has room for, in bytes before base64.
    public static let maximumIconBytes = 2_304
    /// More bytes than this are not told apart: 2⁵³ − 1, the largest number that every reader of JSON knows exactly.
    public static let maximumBytes: Int64 = 9_007_199_254_740_991
    /// Seconds after 2001 that ``finishAt`` may be; what is later, or earlier than 0, is no date.
    static let latestSecond = 9_000_000_000.0

    /// Counts the states: an equal state would not be drawn again, and a widget reports the last one that it drew.
    public internal(set) var seq: Int
    /// How many installs have not ended.
    public let count: Int
    /// How many apps were installed.
    public let installedCount: Int
    /// How many installs failed.
    public let failedCount: Int
    /// How many installs somebody ended.
    public let stoppedCount: Int
    /// Whether an install is at its download, be it held or not. Without one there are no numbers.
    public let isDownloading: Bool
    /// How much of the downloads is there, from 0 to 100, rounded down; `nil` where no length is known.
    public let percent: Int?
    /// The same from 0 to 1 in thousandths, for a bar.
    public let barFraction: Double?
    /// The bytes that are there; of the downloads with a known length where there is one.
    public let downloadedBytes: Int64?
    /// How many there will be; `nil` where no length is known.
    public let totalBytes: Int64?
    /// When the downloads will be over, in whole seconds: a widget counts down to it by itself.
    public let finishAt: Date?
    /// A picture of the app, as PNG or JPEG; only where there is exactly one install.
    public internal(set) var icon: [UInt8]?
    /// The first installs, at most ``maximumItems``.
    public internal(set) var items: [Item]
    /// How many more there are than ``items``.
    public internal(set) var hiddenCount: Int
    /// Whether all that has not ended is held.
    public let isHeld: Bool
    /// Whether the activity could not be renewed, so that only opening the app brings it up to date.
    public internal(set) var needsTap: Bool

    /// A state of these parts; what cannot be is set right.
    public init(
        seq: Int = 0,
        count: Int = 0,
        installedCount: Int = 0,
        failedCount: Int = 0,
        stoppedCount: Int = 0,
        isDownloading: Bool = false,
        percent: Int? = nil,
        barFraction: Double? = nil,
        downloadedBytes: Int64? = nil,
        totalBytes: Int64? = nil,
        finishAt: Date? = nil,
        icon: [UInt8]? = nil,
        items: [Item] = [],
        hiddenCount: Int = 0,
        isHeld: Bool = false,
        needsTap: Bool = false
    ) {
        self.seq = Self.counted(seq)
        self.count = Self.counted(count)
        self.installedCount = Self.counted(installedCount)
        self.failedCount = Self.counted(failedCount)
        self.stoppedCount = Self.counted(stoppedCount)
        let loads = isDownloading && self.count > 0
        self.isDownloading = loads
        self.percent = loads ? percent.map { min(max($0, 0), 100) } : nil
        self.barFraction = loads ? barFraction.flatMap(Self.thousandths) : nil
        self.downloadedBytes = loads ? downloadedBytes.map { min(max($0, 0), Self.maximumBytes) } : nil
        self.totalBytes = loads ? totalBytes.map { min(max($0, 0), Self.maximumBytes) } : nil
        self.finishAt = loads ? finishAt.flatMap(Self.wholeSeconds) : nil
        self.items = Array(items.prefix(Self.maximumItems))
        self.hiddenCount = Self.counted(
            Self.counted(hiddenCount) + min(items.count - self.items.count, Self.maximumCount)
        )
        self.isHeld = isHeld && self.count > 0
        self.needsTap = needsTap
        self.icon = nil
        if let icon, !icon.isEmpty, totalCount == 1 { self.icon = icon }
    }

    /// How many installs there are, the ended ones too.
    public var totalCount: Int {
        // Four times the maximum is more than a 32-bit watch can count.
        let sum = Int64(count) + Int64(installedCount) + Int64(failedCount) + Int64(stoppedCount)
        return Int(min(sum, Int64(Self.maximumCount)))
    }

    /// Whether there was something and all of it has ended: the final state.
    public var isFinished: Bool { count == 0 && totalCount > 0 }

    /// The same state as number `seq`.
    public func numbered(_ seq: Int) -> IslandState {
        var copy = self
        copy.seq = Self.counted(seq)
        return copy
    }

    /// The same state, which asks people to open the app, or no longer does.
    public func askingForTap(_ needsTap: Bool = true) -> IslandState {
        var copy = self
        copy.needsTap = needsTap
        return copy
    }

    private static func counted(_ number: Int) -> Int { min(max(number, 0), maximumCount) }

    private static func thousandths(_ fraction: Double) -> Double? {
        guard !fraction.isNaN else { return nil }
        return (min(max(fraction, 0), 1) * 1_000).rounded() / 1_000
    }

    private static func wholeSeconds(_ date: Date) -> Date? {
        let seconds = date.timeIntervalSinceReferenceDate.rounded()
        guard seconds >= 0, seconds <= latestSecond else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }
}
