import FerryAppBundle
import FerryBytes
import FerryDevice
import FerryInstalling

/// Where apps go, as `--to` says it.
///
/// A new kind of target is a case here: how it is written, how it is kept for `ferry resume`, and what it is made into.
enum TargetChoice: Sendable, Hashable {
    /// A folder of apps.
    case folder(String)
    /// The device of that UDID; `nil` for the one that is connected.
    case device(String?)

    /// Phones that open a link.
    case ota

    /// How each kind is written.
    static let forms: [ValueKind.Form] = [
        .init(text: "folder:", rest: .folder),
        .init(text: "device", summary: "the one that is connected"),
        .init(text: "device:", rest: .word("UDID")),
        .init(text: "ota", summary: "phones that open a link"),
    ]

    /// Reads what `--to` was given.
    init(_ text: String) throws(UsageError) {
        if let folder = text.after("folder:") {
            self = .folder(folder)
        } else if text == "device" {
            self = .device(nil)
        } else if text == "ota" {
            self = .ota
        } else if let identifier = text.after("device:") {
            self = .device(identifier)
        } else {
            throw UsageError(
                .invalidValue,
                "“\(text)” is no target.",
                advice: "Give --to \(listed(Self.forms.map(\.pattern), "or"))."
            )
        }
    }

    /// As `--to` has it.
    var text: String {
        switch self {
        case .folder(let folder): "folder:" + folder
        case .device(let identifier): identifier.map { "device:" + $0 } ?? "device"
        case .ota: "ota"
        }
    }

    /// The same for a later process, which may run in another folder; `absolute` makes a path absolute.
    func lasting(_ absolute: (String) throws -> String) rethrows -> TargetChoice {
        switch self {
        case .folder(let folder): .folder(try absolute(folder))
        case .device, .ota: self
        }
    }

    /// What installs there; `air` is what phones are served by, where they are.
    func target(_ air: AirDesk?) throws(InstallError) -> any InstallTarget {
        switch self {
        case .ota:
            guard let air else { throw InstallError(.target, "ota: nothing serves phones here.") }
            return air.target
        case .folder(let folder): return FolderTarget(folder: folder)
        case .device(let identifier): return DeviceTarget(identifier: identifier)
        }
    }

    /// The system there; `nil` where it is not known.
    func system() async throws -> SystemVersion? {
        switch self {
        case .folder, .ota: nil
        case .device(let identifier): try await Device.find(identifier).facts().systemVersion
        }
    }

    /// Looks whether it can be installed there at all, before anything is fetched; gives the very device that is meant.
    ///
    /// Another one may be at the cable when an archive has arrived, or when the install is gone on with.
    func settled() async throws -> TargetChoice {
        switch self {
        case .folder, .ota: self
        case .device(let identifier): .device(try await Device.find(identifier).identifier)
        }
    }
}

extension String {
    /// What follows `prefix`, where that is anything.
    fileprivate func after(_ prefix: String) -> String? {
        hasPrefix(prefix) && self != prefix ? String(dropFirst(prefix.count)) : nil
    }
}
