/// `PUSH_TEST_SEED`; default 1. Another seed makes other calls fail, at other moments.
let diskSeed = UInt64(number("PUSH_TEST_SEED") ?? 1)

/// The counts of a disk suite, for its last line.
struct DiskFigures: CustomStringConvertible {
    var cuts = 0
    var failedSyncs = 0
    var acknowledged = 0
    var lost = 0

    static func += (sum: inout DiskFigures, more: DiskFigures) {
        sum.cuts += more.cuts
        sum.failedSyncs += more.failedSyncs
        sum.acknowledged += more.acknowledged
        sum.lost += more.lost
    }

    var description: String {
        "\(cuts) power cuts, \(failedSyncs) failed syncs, \(acknowledged) acknowledged, \(lost) lost"
    }
}
