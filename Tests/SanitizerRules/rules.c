// What the thread sanitizer is not to report.
//
// An array made with `unsafeUninitializedCapacity` and left empty writes a zero over the zero of the one empty array that
// all threads share.
__attribute__((no_sanitize("thread"))) const char *__tsan_default_suppressions(void) {
    return "race_top:ContiguousArrayV27unsafeUninitializedCapacity\n";
}
