extension IslandState {
    /// One install in the list.
    public struct Item: Sendable, Hashable {
        /// How long a title may be, in letters; longer ones end in `…`.
        public static let maximumTitleLetters = 64
        /// How long it may be in bytes of UTF-8.
        public static let maximumTitleBytes = 256

        /// What people call the app, on one line; empty where it was shed or has no name.
        public internal(set) var title: String
        /// Where it is, or how it ended.
        public let stage: IslandStage
        /// How much of its download is there, from 0 to 100, rounded down; `nil` unless it downloads a known length.
        public let percent: Int?
        /// Whether somebody holds it.
        public let isHeld: Bool

        /// An item; what cannot be is set right: a long title is cut, a percentage of what does not download goes.
        public init(title: String, stage: IslandStage, percent: Int? = nil, isHeld: Bool = false) {
            self.title = title.oneLine.cut(toLetters: Self.maximumTitleLetters, bytes: Self.maximumTitleBytes)
            self.stage = stage
            self.percent = stage == .downloading ? percent.map { min(max($0, 0), 100) } : nil
            self.isHeld = isHeld && !stage.isFinished
        }
    }
}

extension IslandState.Item: Codable {
    private enum Key: String, CodingKey {
        case title = "name"
        case stage = "at"
        case percent = "pct"
        case isHeld = "held"
    }

    /// Reads an item; only `at` must be there.
    public init(from decoder: any Decoder) throws {
        let fields = try Fields<Key>(decoder)
        guard let stage = try fields.text(.stage) else { throw fields.missing(.stage, "a stage, such as \"load\"") }
        self.init(
            title: try fields.text(.title) ?? "",
            stage: IslandStage(rawValue: stage) ?? .unknown,
            percent: try fields.integer(.percent, in: 0...100),
            isHeld: try fields.flag(.isHeld) ?? false
        )
    }

    /// Writes what is not a default.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(title, forKey: .title)
        try container.encode(stage.rawValue, forKey: .stage)
        try container.encodeIfPresent(percent, forKey: .percent)
        if isHeld { try container.encode(true, forKey: .isHeld) }
    }
}
