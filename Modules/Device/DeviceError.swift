public import FerryBytes
import FerryInstalling

/// Why a device did not do what was asked of it.
public struct DeviceError: ExplainedError, Equatable {
    /// What kind of trouble it is.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The service that leads to devices, usbmuxd, cannot be reached.
        case service
        /// The device is not connected, or none is.
        case notFound
        /// Several devices are connected, and which one is meant was not said.
        case several
        /// The device and this computer are not paired, or no longer.
        case notPaired
        /// The device is locked, and shows nothing until somebody unlocks it.
        case locked
        /// The connection ended.
        case disconnected
        /// The device answers what cannot be understood.
        case answer
        /// A file on the device could not be made, written or removed.
        case file
        /// The device is full.
        case room
        /// The archive is no app, or damaged.
        case archive
        /// The device would not take the app; nothing was sent.
        case refused
        /// The device said no to the app, or to removing it.
        case declined
        /// Nothing came from the device for too long.
        case stalled
        /// Somebody asked for the end.
        case cancelled
    }

    /// What kind of trouble it is.
    public let code: Code
    /// What happened and where: the device, and the step.
    public let message: String
    /// What helps.
    public let remedy: String?
    /// The error's name as the device said it: `ApplicationVerificationFailed`; `nil` where it said none.
    public let answer: String?
    /// What somebody at the device can do so that it goes on; `nil` for nothing.
    let wish: Lockdown.Wish?

    init(_ code: Code, _ message: String, remedy: String? = nil, answer: String? = nil, wish: Lockdown.Wish? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.answer = answer
        self.wish = wish
    }

    /// Whether somebody asked for the end.
    public var isCancellation: Bool { code == .cancelled }
}

extension DeviceError {
    /// The error as an ``InstallTarget`` throws it.
    var asInstallError: InstallError {
        let code: InstallError.Code =
            switch self.code {
            case .room: .room
            case .archive: .archive
            case .refused: .refused
            case .stalled: .stalled
            case .cancelled: .cancelled
            default: .target
            }
        return InstallError(code, message, remedy: remedy)
    }

    /// What was thrown while doing something with the device called `name`.
    init(_ error: any Error, on name: String, doing step: String) {
        switch error {
        case let error as DeviceError: self = error
        case is CancellationError: self.init(.cancelled, "\(name): \(step) was cancelled.")
        case let error as any ExplainedError: self.init(.archive, error.message, remedy: error.remedy)
        default: self.init(.answer, "\(name): \(step): \(error)")
        }
    }
}
