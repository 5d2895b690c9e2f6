// What the thread sanitizer is not to report.
//
// `Synchronization.Mutex` waits for a lock in a library that is not instrumented, so the sanitizer does not see that one
// owner comes after the other. Each of these functions is one `withLock` and nothing else.
//
// An array made with `unsafeUninitializedCapacity` and left empty writes a zero over the zero of the one empty array that
// all threads share.
__attribute__((no_sanitize("thread"))) const char *__tsan_default_suppressions(void) {
    return "race:FerrySigning7WorkersC5Queue\n"
           "race:FerrySigning8Worklist\n"
           "race:FerrySigning5MeterC3add\n"
           "race_top:ContiguousArrayV27unsafeUninitializedCapacity\n";
}
