/// The version that a leader writes its batches in: the highest that all copies read, so that a pair is upgraded one
/// machine after the other. It never falls: what was written needs its readers anyway.
public struct VersionGate: Hashable, Sendable {
    /// The version of the batch before.
    private var last: Int
    /// The highest that this program reads and writes.
    private let own: Int

    /// - Parameters:
    ///   - last: the version of the last batch of the chain.
    ///   - own: the highest that this program reads and writes.
    public init(after last: Int, own: Int = ChainBatch.currentVersion) { (self.last, self.own) = (last, own) }

    /// The version of the next batch.
    ///
    /// - Parameters:
    ///   - copies: the lowest of what the copies read; `nil`: not known yet.
    ///   - rows: the version that its rows need.
    public mutating func next(copies: Int?, rows: Int) -> Int {
        last = max(last, rows, min(own, copies ?? last))
        return last
    }
}
