/// Why the service refused a push, in its own word.
public struct PushReason: Sendable, Hashable, CustomStringConvertible {
    /// The words that Apple documents, and one for any other.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        case badCollapseID = "BadCollapseId"
        case badDeviceToken = "BadDeviceToken"
        case badExpirationDate = "BadExpirationDate"
        case badMessageID = "BadMessageId"
        case badPriority = "BadPriority"
        case badTopic = "BadTopic"
        case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
        case duplicateHeaders = "DuplicateHeaders"
        case idleTimeout = "IdleTimeout"
        case invalidPushType = "InvalidPushType"
        case missingDeviceToken = "MissingDeviceToken"
        case missingTopic = "MissingTopic"
        case payloadEmpty = "PayloadEmpty"
        case topicDisallowed = "TopicDisallowed"
        case badCertificate = "BadCertificate"
        case badCertificateEnvironment = "BadCertificateEnvironment"
        case expiredProviderToken = "ExpiredProviderToken"
        case forbidden = "Forbidden"
        case invalidProviderToken = "InvalidProviderToken"
        case missingProviderToken = "MissingProviderToken"
        case unrelatedKeyIDInToken = "UnrelatedKeyIdInToken"
        case badEnvironmentKeyIDInToken = "BadEnvironmentKeyIdInToken"
        case badPath = "BadPath"
        case methodNotAllowed = "MethodNotAllowed"
        case expiredToken = "ExpiredToken"
        case unregistered = "Unregistered"
        case payloadTooLarge = "PayloadTooLarge"
        case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
        case tooManyRequests = "TooManyRequests"
        case internalServerError = "InternalServerError"
        case serviceUnavailable = "ServiceUnavailable"
        case shutdown = "Shutdown"
        /// A word that Apple did not document; ``PushReason/text`` has it.
        case other = ""
    }

    /// What to switch on.
    public let code: Code
    /// The word as it came, control characters written out; empty where the answer had none.
    public let text: String

    /// Keeps the word, and finds what it is.
    public init(_ text: String) {
        code = Code(rawValue: text) ?? .other
        self.text = text
    }

    /// The word as it came.
    public var description: String { text.isEmpty ? "no reason" : text }
}
