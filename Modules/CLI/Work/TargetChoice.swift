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

    /// How each kind is written.
    static let forms: [ValueKind.Form] = [
        .init(text: "folder:", rest: .folder),
        .init(text: "device", summary: "the one that is connected"),
        .init(text: "device:", rest: .word("UDID")),
    ]

    /// Reads what `--to` was given.
    init(_ text: String) throws(UsageError) {
        if let folder = text.after("folder:") {
            self = .folder(folder)
        } else if text == "device" {
            self = .device(nil)
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
        }
    }

    /// The same for a later process, which may run in another folder; `absolute` makes a path absolute.
    func lasting(_ absolute: (String) throws -> String) rethrows -> TargetChoice {
        switch self {
        case .folder(let folder): .folder(try absolute(folder))
        case .device: self
        }
    }

    /// What installs there.
    var target: any InstallTarget {
        switch self {
        case .folder(let folder): FolderTarget(folder: folder)
        case .device(let identifier): DeviceTarget(identifier: identifier)
        }
    }

    /// Looks whether it can be installed there at all, before anything is fetched.
    func check() async throws {
        switch self {
        case .folder: break
        case .device(let identifier): _ = try await Device.find(identifier)
        }
    }
}

extension String {
    /// What follows `prefix`, where that is anything.
    fileprivate func after(_ prefix: String) -> String? {
        hasPrefix(prefix) && self != prefix ? String(dropFirst(prefix.count)) : nil
    }
}
