import Glibc

/// The extent of the random searches of the tests.
///
/// A run tries a tenth of the cases, from a seed of its own, so that each run searches elsewhere. With
/// `PUSH_TEST_CASES=all` it tries all of them. With `PUSH_TEST_SEED=N` it begins at seed N, which a failure names.
public enum Search {
    public static let isFull = getenv("PUSH_TEST_CASES").map { String(cString: $0) } == "all"

    /// The first seed of this run.
    public static let firstSeed: UInt64 = {
        if let given = getenv("PUSH_TEST_SEED").flatMap({ UInt64(String(cString: $0)) }) { return given }
        let seed = UInt64.random(in: 0..<1_000_000_000)
        print("random searches begin at seed \(seed): PUSH_TEST_SEED=\(seed) repeats them")
        return seed
    }()

    /// The number of cases that this run tries.
    ///
    /// - Parameter all: the number in a full search.
    public static func cases(_ all: Int) -> Int { isFull ? all : max(all / 10, 1) }

    /// The seeds of this run, one for each case.
    ///
    /// - Parameter all: the number in a full search.
    public static func seeds(_ all: Int) -> Range<UInt64> { firstSeed..<firstSeed + UInt64(cases(all)) }
}
