#pragma once
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast that Swift does not import.
static inline int ferry_bind_text(sqlite3_stmt *statement, int place, const char *text, int length) {
    return sqlite3_bind_text(statement, place, text, length, SQLITE_TRANSIENT);
}
static inline int ferry_bind_blob(sqlite3_stmt *statement, int place, const void *bytes, int length) {
    return sqlite3_bind_blob(statement, place, bytes, length, SQLITE_TRANSIENT);
}
// Variadic functions are not imported either.
static inline int ferry_keep_wal_on_close(sqlite3 *database, int keep) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep, (int *)0);
}
