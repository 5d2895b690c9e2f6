import FerryInstalling
import FerryPropertyList
import FerryZip
import Foundation
import TestKit
import Testing

/// The bytes of an archive with one app in it.
func app(
    _ identifier: String = "com.test.app",
    name: String = "Payload/A.app",
    version: String = "1",
    _ change: (inout ZipBuilder) -> Void = { _ in }
) throws -> [UInt8] {
    var builder = ZipBuilder()
    let info: PropertyList = [
        "CFBundleIdentifier": .string(identifier), "CFBundleExecutable": "A", "CFBundleVersion": .string(version),
    ]
    builder.addFile(name + "/Info.plist", info.encoded(as: .binary))
    builder.addFile(name + "/A", Array("code".utf8), mode: 0o755)
    builder.addFile(name + "/version", Array(version.utf8))
    change(&builder)
    return try builder.bytes()
}

/// A folder to install to, and archives beside it.
struct Place {
    let folder: TemporaryFolder
    let target: FolderTarget

    init(_ apps: String = "apps") throws {
        folder = try TemporaryFolder()
        target = FolderTarget(folder: folder.path(apps))
    }

    @discardableResult
    func install(_ bytes: [UInt8]) async throws(InstallError) -> InstalledApp {
        let path: String
        do {
            path = try folder.write(bytes, to: "a.ipa")
        } catch {
            preconditionFailure("\(error)")
        }
        return try await target.install(path, tell: { _ in })
    }

    /// All names below the target, hidden ones too.
    func contents() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: target.folder).sorted()
    }

    func text(_ name: String) throws -> String {
        String(decoding: try folder.read("apps/" + name), as: UTF8.self)
    }
}
