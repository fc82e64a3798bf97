import TestSupport
import Testing

/// Prints what a test leaves out, and why; with `PUSH_TEST_ALL=1` the test fails.
func leaveUntested(_ reason: String) {
    print("not tested: \(reason)")
    if testsAll { Issue.record("not tested although PUSH_TEST_ALL=1: \(reason)") }
}

/// Cancels a test that cannot run here, and prints why; with `PUSH_TEST_ALL=1` it fails.
func cancelTest(_ reason: String) throws {
    try #require(!testsAll, "not tested although PUSH_TEST_ALL=1: \(reason)")
    try Test.cancel("\(reason)")
}
