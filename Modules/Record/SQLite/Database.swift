import CSQLite
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// One open connection to an SQLite database; for one thread.
final class Database {
    /// How long a writer waits for another one.
    static let busyMilliseconds: Int32 = 10_000

    let path: String
    private let handle: OpaquePointer

    /// Opens the database, which is made where it is missing.
    init(path: String) throws(RecordError) {
        self.path = path
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            defer { sqlite3_close_v2(opened) }
            throw RecordError(sqlite: code, opened, path)
        }
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, Self.busyMilliseconds)
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    /// Leaves the write-ahead log as it is when this connection closes.
    func keepLogOnClose(_ keeps: Bool) {
        _ = ferry_keep_wal_on_close(handle, keeps ? 1 : 0)
    }

    /// How many rows the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// Runs statements without values.
    func execute(_ sql: String) throws(RecordError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Runs one statement to its end.
    func run(_ sql: String, _ values: [Value] = []) throws(RecordError) {
        try rows(sql, values) { _ throws(RecordError) in }
    }

    /// Runs one statement and hands each row to `body`.
    func rows(
        _ sql: String,
        _ values: [Value] = [],
        _ body: (Row) throws(RecordError) -> Void
    ) throws(RecordError) {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, sql, -1, &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw failure(code) }
        defer { sqlite3_finalize(prepared) }
        for (index, value) in values.enumerated() {
            let code = value.bind(prepared, Int32(index + 1))
            guard code == SQLITE_OK else { throw failure(code) }
        }
        while true {
            let code = sqlite3_step(prepared)
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw failure(code) }
            try body(Row(statement: prepared))
        }
    }

    /// The first column of the first row as a number; `nil` where there is no row.
    func number(_ sql: String, _ values: [Value] = []) throws(RecordError) -> Int64? {
        var number: Int64?
        try rows(sql, values) { row throws(RecordError) in number = number ?? row.number(0) }
        return number
    }

    /// The first column of the first row as text; `nil` where there is no row.
    func text(_ sql: String) throws(RecordError) -> String? {
        var text: String?
        try rows(sql) { row throws(RecordError) in text = text ?? row.text(0) }
        return text
    }

    /// Runs `body` as a whole or not at all; no other process writes meanwhile.
    func transaction<Result>(_ body: () throws(RecordError) -> Result) throws(RecordError) -> Result {
        try execute("BEGIN IMMEDIATE")
        let result: Result
        do throws(RecordError) {
            result = try body()
            try execute("COMMIT")
        } catch {
            // After some errors SQLite has rolled back by itself, and says that there is nothing to.
            try? execute("ROLLBACK")
            throw error
        }
        return result
    }

    private func failure(_ code: Int32) -> RecordError {
        RecordError(sqlite: code, handle, path)
    }
}

extension Database {
    /// What a statement is given.
    enum Value {
        case null
        case number(Int64)
        case text(String)
        case blob([UInt8])

        /// Text, or nothing.
        static func optional(_ text: String?) -> Value { text.map { .text($0) } ?? .null }

        /// Yes or no.
        static func flag(_ isSo: Bool) -> Value { .number(isSo ? 1 : 0) }

        fileprivate func bind(_ statement: OpaquePointer, _ place: Int32) -> Int32 {
            switch self {
            case .null: sqlite3_bind_null(statement, place)
            case .number(let number): sqlite3_bind_int64(statement, place, number)
            case .text(let text): ferry_bind_text(statement, place, text, Int32(clamping: text.utf8.count))
            case .blob(let bytes): ferry_bind_blob(statement, place, bytes, Int32(clamping: bytes.count))
            }
        }
    }

    /// A row of a result, while it is looked at.
    struct Row {
        fileprivate let statement: OpaquePointer

        func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

        func number(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

        func flag(_ column: Int32) -> Bool { number(column) != 0 }

        func optionalNumber(_ column: Int32) -> Int64? { isNull(column) ? nil : number(column) }

        func text(_ column: Int32) -> String? {
            guard let letters = sqlite3_column_text(statement, column) else { return nil }
            let count = Int(sqlite3_column_bytes(statement, column))
            return String(decoding: UnsafeBufferPointer(start: letters, count: count), as: UTF8.self)
        }

        func blob(_ column: Int32) -> [UInt8]? {
            guard !isNull(column) else { return nil }
            let bytes = sqlite3_column_blob(statement, column)
            return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))))
        }
    }
}

extension RecordError {
    /// What SQLite said.
    fileprivate init(sqlite code: Int32, _ handle: OpaquePointer?, _ path: String) {
        let words = handle.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) } ?? "error \(code)"
        let number = handle.map { sqlite3_system_errno($0) } ?? 0
        let kind: Code
        switch code & 0xFF {
        case SQLITE_CORRUPT, SQLITE_NOTADB: kind = .damaged
        case SQLITE_BUSY, SQLITE_LOCKED: kind = .busy
        case SQLITE_FULL: kind = .full
        case SQLITE_IOERR where number == ENOSPC || number == EDQUOT: kind = .full
        default: kind = .file
        }
        let remedy =
            switch kind {
            case .damaged: "The next call sets it aside under another name and begins a new one."
            case .busy: "Another ferry writes to it; try again, and look for one that is stopped."
            case .full: "Make room on the disk; nothing that was written before is lost."
            default: "Check the folder's owner, its permissions and its disk."
            }
        self.init(kind, "\(path): \(words) (SQLite error \(code)).", remedy: remedy)
    }
}
