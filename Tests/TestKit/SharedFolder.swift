import Foundation

/// The folder of real inputs and judges beside the checkout, where there is one.
///
/// Tests that use it are marked `.enabled(if: SharedFolder.exists, SharedFolder.absent)` and skip with that message.
public enum SharedFolder {
    /// What a test says when it skips.
    public static let absent = "the folder shared/ beside the checkout is not there"

    /// Its path; `FERRY_SHARED` names another one.
    public static let path: String =
        ProcessInfo.processInfo.environment["FERRY_SHARED"]
        ?? URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("shared").path

    /// Whether it is there.
    public static let exists = FileManager.default.fileExists(atPath: path + "/corpus/MANIFEST.tsv")

    /// The path of a file of the corpus.
    public static func corpus(_ name: String) -> String {
        path + "/corpus/" + name
    }
}
