import Glibc

// A build without tests builds this target, too, and has no module Testing.
#if canImport(Testing)
    public import Testing
#endif

/// Whether a test fails if a tool, a right or a package is missing (`PUSH_TEST_ALL=1`). Otherwise the test is skipped,
/// or prints what it did not test.
public let testsAll = getenv("PUSH_TEST_ALL").map { String(cString: $0) } == "1"

#if canImport(Testing)
    /// A need that a test has of the machine. Without it the runner skips the test and prints the reason; with
    /// `PUSH_TEST_ALL=1` the test fails with the reason.
    public struct Need: TestTrait, SuiteTrait {
        fileprivate let what: String
        fileprivate let isMet: @Sendable () -> Bool

        /// Each test of a suite needs what the suite needs.
        public var isRecursive: Bool { true }

        public func prepare(for test: Test) async throws {
            guard !isMet() else { return }
            guard !testsAll else { throw Untested(what: what) }
            try await ConditionTrait.disabled("needs \(what)").prepare(for: test)
        }
    }

    /// A test that the machine cannot run, although all must run.
    private struct Untested: Error, CustomStringConvertible {
        let what: String
        var description: String { "not tested although PUSH_TEST_ALL=1: needs \(what)" }
    }

    extension Trait where Self == Need {
        /// A need of its own; `what` follows the word "needs".
        public static func needs(_ what: String, if isMet: @autoclosure @escaping @Sendable () -> Bool) -> Self {
            Need(what: what, isMet: isMet)
        }

        public static var needsRoot: Self { needs("root", if: geteuid() == 0) }

        /// `packaging/test.sh` runs as `nobody` each test whose function is named `…WithoutRoot`.
        public static var needsOrdinaryUser: Self { needs("a user other than root", if: geteuid() != 0) }

        public static var needsPostgreSQL: Self {
            needs("PostgreSQL (apt-get install postgresql)", if: PostgreSQLServer.isInstalled)
        }

        /// A program that another package of Debian has.
        public static func needs(program: String, of package: String) -> Self {
            needs("\(program) (apt-get install \(package))", if: access(program, X_OK) == 0)
        }
    }

    /// Prints what a test leaves out, and why; with `PUSH_TEST_ALL=1` the test fails.
    public func leaveUntested(_ reason: String) {
        print("not tested: \(reason)")
        if testsAll { Issue.record("not tested although PUSH_TEST_ALL=1: \(reason)") }
    }

    /// Cancels a test that cannot run here, and prints why; with `PUSH_TEST_ALL=1` it fails.
    public func cancelTest(_ reason: String) throws {
        try #require(!testsAll, "not tested although PUSH_TEST_ALL=1: \(reason)")
        print("not tested: \(reason)")
        try Test.cancel("\(reason)")
    }
#endif
