#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Fields that may be missing, or be something else than expected: then they are as in a fresh record.
private struct TolerantFields<Key: CodingKey> {
    let container: KeyedDecodingContainer<Key>

    init(_ decoder: any Decoder, _ type: Key.Type) throws {
        container = try decoder.container(keyedBy: type)
    }

    func value<Value: Decodable>(_ key: Key, as type: Value.Type = Value.self) -> Value? {
        try? container.decodeIfPresent(Value.self, forKey: key)
    }

    /// A date between 1970 and 2300.
    func date(_ key: Key) -> Date? {
        guard let seconds = value(key, as: Double.self), seconds >= 0, seconds <= 10_413_792_000 else { return nil }
        return Date(timeIntervalSince1970: seconds)
    }
}

extension KeyedEncodingContainer {
    fileprivate mutating func encode(date: Date?, forKey key: Key) throws {
        try encodeIfPresent(date?.timeIntervalSince1970, forKey: key)
    }
}

private func missing(_ decoder: any Decoder) -> DecodingError {
    .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "a field without which nothing can be done"))
}

extension LifeRecord: Codable {
    private enum Key: String, CodingKey {
        case version, availability, installs, seq, current, former, pending, dismissal, backOff, updateBackOff
        case pushToStartToken, unadoptedStarts, liveness, stuckRestarts, renewalFailedAt, isNoticeShown
        case state, reason, since
    }

    /// Reads what is there and is understood.
    public init(from decoder: any Decoder) throws {
        self.init()
        let fields = try TolerantFields(decoder, Key.self)
        version = fields.value(.version) ?? version
        availability = fields.value(.availability) ?? availability
        installs = fields.value(.installs) ?? installs
        seq = fields.value(.seq) ?? seq
        current = fields.value(.current)
        former = (fields.value(.former, as: [Maybe<Former>].self) ?? []).compactMap(\.value)
        pending = fields.value(.pending)
        dismissal = fields.value(.dismissal)
        backOff = fields.value(.backOff)
        updateBackOff = fields.value(.updateBackOff)
        pushToStartToken = fields.value(.pushToStartToken)
        unadoptedStarts = fields.value(.unadoptedStarts) ?? unadoptedStarts
        liveness = fields.value(.liveness)
        stuckRestarts = fields.value(.stuckRestarts) ?? stuckRestarts
        renewalFailedAt = fields.date(.renewalFailedAt)
        isNoticeShown = fields.value(.isNoticeShown) ?? isNoticeShown
        state = fields.value(.state) ?? state
        reason = fields.value(.reason) ?? reason
        since = fields.date(.since) ?? since
    }

    /// Writes every field that has a value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Self.currentVersion, forKey: .version)
        try container.encode(availability, forKey: .availability)
        try container.encode(installs, forKey: .installs)
        try container.encode(seq, forKey: .seq)
        try container.encodeIfPresent(current, forKey: .current)
        try container.encode(former, forKey: .former)
        try container.encodeIfPresent(pending, forKey: .pending)
        try container.encodeIfPresent(dismissal, forKey: .dismissal)
        try container.encodeIfPresent(backOff, forKey: .backOff)
        try container.encodeIfPresent(updateBackOff, forKey: .updateBackOff)
        try container.encodeIfPresent(pushToStartToken, forKey: .pushToStartToken)
        try container.encode(unadoptedStarts, forKey: .unadoptedStarts)
        try container.encodeIfPresent(liveness, forKey: .liveness)
        try container.encode(stuckRestarts, forKey: .stuckRestarts)
        try container.encode(date: renewalFailedAt, forKey: .renewalFailedAt)
        try container.encode(isNoticeShown, forKey: .isNoticeShown)
        try container.encode(state, forKey: .state)
        try container.encode(reason, forKey: .reason)
        try container.encode(date: since, forKey: .since)
    }

    /// An element that may be unreadable without taking the others with it.
    private struct Maybe<Value: Decodable>: Decodable {
        let value: Value?

        init(from decoder: any Decoder) {
            value = try? Value(from: decoder)
        }
    }
}

extension LifeRecord.Island: Codable {
    private enum Key: String, CodingKey {
        case id, startedAt, adoptedAt, token, firstSeq, sentSeq, lastTimestamp, behindSince, isUnusable, owesUpdate
    }

    /// Reads it; throws without a name or a date.
    public init(from decoder: any Decoder) throws {
        let fields = try TolerantFields(decoder, Key.self)
        guard let id: IslandID = fields.value(.id), let startedAt = fields.date(.startedAt) else {
            throw missing(decoder)
        }
        self.init(id: id, startedAt: startedAt, adoptedAt: fields.date(.adoptedAt) ?? startedAt)
        token = fields.value(.token)
        firstSeq = max(fields.value(.firstSeq) ?? 0, 0)
        sentSeq = max(fields.value(.sentSeq) ?? 0, 0)
        lastTimestamp = max(fields.value(.lastTimestamp) ?? 0, 0)
        behindSince = fields.date(.behindSince)
        isUnusable = fields.value(.isUnusable) ?? false
        owesUpdate = fields.value(.owesUpdate) ?? false
    }

    /// Writes every field that has a value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(id, forKey: .id)
        try container.encode(date: startedAt, forKey: .startedAt)
        try container.encode(date: adoptedAt, forKey: .adoptedAt)
        try container.encodeIfPresent(token, forKey: .token)
        try container.encode(firstSeq, forKey: .firstSeq)
        try container.encode(sentSeq, forKey: .sentSeq)
        try container.encode(lastTimestamp, forKey: .lastTimestamp)
        try container.encode(date: behindSince, forKey: .behindSince)
        try container.encode(isUnusable, forKey: .isUnusable)
        try container.encode(owesUpdate, forKey: .owesUpdate)
    }
}

extension LifeRecord.Former: Codable {
    private enum Key: String, CodingKey {
        case id, startedAt, token, isEndedByUs, owesEnd, notBefore, lingersUntil, lastTimestamp
    }

    /// Reads it; throws without a name or a date.
    public init(from decoder: any Decoder) throws {
        let fields = try TolerantFields(decoder, Key.self)
        guard let id: IslandID = fields.value(.id), let startedAt = fields.date(.startedAt) else {
            throw missing(decoder)
        }
        self.init(id: id, startedAt: startedAt, isEndedByUs: fields.value(.isEndedByUs) ?? true)
        token = fields.value(.token)
        owesEnd = fields.value(.owesEnd) ?? false
        notBefore = fields.date(.notBefore)
        lingersUntil = fields.date(.lingersUntil)
        lastTimestamp = max(fields.value(.lastTimestamp) ?? 0, 0)
    }

    /// Writes every field that has a value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(id, forKey: .id)
        try container.encode(date: startedAt, forKey: .startedAt)
        try container.encodeIfPresent(token, forKey: .token)
        try container.encode(isEndedByUs, forKey: .isEndedByUs)
        try container.encode(owesEnd, forKey: .owesEnd)
        try container.encode(date: notBefore, forKey: .notBefore)
        try container.encode(date: lingersUntil, forKey: .lingersUntil)
        try container.encode(lastTimestamp, forKey: .lastTimestamp)
    }
}

extension LifeRecord.Pending: Codable {
    private enum Key: String, CodingKey {
        case seq, at, isRequest, isAnswered, hasNews
    }

    /// Reads it; throws without a number or a date.
    public init(from decoder: any Decoder) throws {
        let fields = try TolerantFields(decoder, Key.self)
        guard let seq: Int = fields.value(.seq), let at = fields.date(.at) else { throw missing(decoder) }
        self.init(seq: seq, at: at, isRequest: fields.value(.isRequest) ?? false)
        isAnswered = fields.value(.isAnswered) ?? false
        hasNews = fields.value(.hasNews) ?? false
    }

    /// Writes every field.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(seq, forKey: .seq)
        try container.encode(date: at, forKey: .at)
        try container.encode(isRequest, forKey: .isRequest)
        try container.encode(isAnswered, forKey: .isAnswered)
        try container.encode(hasNews, forKey: .hasNews)
    }
}

extension LifeRecord.Dismissal: Codable {
    private enum Key: String, CodingKey {
        case island, at, isPresumed
    }

    /// Reads it; throws without a name. A swipe whose date is lost is still one.
    public init(from decoder: any Decoder) throws {
        let fields = try TolerantFields(decoder, Key.self)
        guard let island: IslandID = fields.value(.island) else { throw missing(decoder) }
        self.init(
            island: island,
            at: fields.date(.at) ?? Date(timeIntervalSince1970: 0),
            isPresumed: fields.value(.isPresumed) ?? false
        )
    }

    /// Writes every field.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(island, forKey: .island)
        try container.encode(date: at, forKey: .at)
        try container.encode(isPresumed, forKey: .isPresumed)
    }
}

extension LifeRecord.BackOff: Codable {
    private enum Key: String, CodingKey {
        case until, step, status
    }

    /// Reads it; throws without a date.
    public init(from decoder: any Decoder) throws {
        let fields = try TolerantFields(decoder, Key.self)
        guard let until = fields.date(.until) else { throw missing(decoder) }
        self.init(until: until, step: fields.value(.step) ?? 0, status: fields.value(.status) ?? 0)
    }

    /// Writes every field.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(date: until, forKey: .until)
        try container.encode(step, forKey: .step)
        try container.encode(status, forKey: .status)
    }
}

extension LifeRecord.Liveness: Codable {
    private enum Key: String, CodingKey {
        case seq, at
    }

    /// Reads it; throws without a number or a date.
    public init(from decoder: any Decoder) throws {
        let fields = try TolerantFields(decoder, Key.self)
        guard let seq: Int = fields.value(.seq), let at = fields.date(.at) else { throw missing(decoder) }
        self.init(seq: seq, at: at)
    }

    /// Writes every field.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(seq, forKey: .seq)
        try container.encode(date: at, forKey: .at)
    }
}
