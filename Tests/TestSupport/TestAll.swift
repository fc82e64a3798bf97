import Glibc

/// Whether a test fails if a tool, a right or a package is missing (`PUSH_TEST_ALL=1`). Otherwise the test is skipped,
/// or prints what it did not test.
public let testsAll = getenv("PUSH_TEST_ALL").map { String(cString: $0) } == "1"
