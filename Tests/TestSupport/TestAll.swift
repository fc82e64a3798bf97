import Glibc

/// Whether a test fails where a tool, a right or a package that it needs is missing (`PUSH_TEST_ALL=1`). Else it is skipped,
/// or says in its output what was not tested.
public let testsAll = getenv("PUSH_TEST_ALL").map { String(cString: $0) } == "1"
