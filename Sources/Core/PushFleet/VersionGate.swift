/// The version of a leader's batches: the highest one that all copies read, so that the machines of a pair can be
/// upgraded one after the other. It never decreases, because batches of a higher version already need their readers.
public struct VersionGate: Hashable, Sendable {
    /// The version of the previous batch.
    private var last: Int
    /// The highest version that this program reads and writes.
    private let own: Int

    /// - Parameters:
    ///   - last: the version of the last batch of the chain.
    ///   - own: the highest version that this program reads and writes.
    public init(after last: Int, own: Int = ChainBatch.currentVersion) { (self.last, self.own) = (last, own) }

    /// Returns the version of the next batch.
    ///
    /// - Parameters:
    ///   - copies: the lowest version that all copies read; `nil`: not known yet.
    ///   - rows: the version that its rows need.
    public mutating func next(copies: Int?, rows: Int) -> Int {
        last = max(last, rows, min(own, copies ?? last))
        return last
    }
}
