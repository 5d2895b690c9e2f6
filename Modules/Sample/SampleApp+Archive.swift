import FerryBytes
package import FerryZip

extension SampleApp {
    /// The archive in memory.
    ///
    /// - Parameter level: of deflate, 1 to 12.
    /// - Parameter modified: the date of all entries.
    package func archive(
        level: Int = 6,
        modified: DOSDateTime = DOSDateTime(year: 2026, month: 1, day: 1)
    ) throws -> [UInt8] {
        try builder(level: level, modified: modified).bytes()
    }

    /// Writes the archive to a file, which appears when it is whole.
    package func write(
        to path: String,
        level: Int = 6,
        modified: DOSDateTime = DOSDateTime(year: 2026, month: 1, day: 1)
    ) throws {
        let items = builder(level: level, modified: modified).items
        let file = try NewFile(path: path)
        try writeArchive(items, from: nil, to: file.descriptor, path: path)
        try file.commit()
    }

    private func builder(level: Int, modified: DOSDateTime) -> ZipBuilder {
        var builder = ZipBuilder(modified: modified)
        for file in files() {
            switch file.content {
            case .file(let bytes): builder.addFile(file.path, bytes, mode: file.mode, level: level)
            case .link(let target): builder.addLink(file.path, to: target)
            case .folder: builder.addFolder(file.path, mode: file.mode)
            }
        }
        return builder
    }
}
