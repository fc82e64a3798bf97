/// The version in which a leader writes its batches: the highest that all copies read, so that a pair can be upgraded
/// one machine after the other. It never falls, since the batches already written need readers of their version anyway.
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
    ///   - copies: the lowest version among those that the copies read; `nil` if it is unknown yet.
    ///   - rows: the version that the rows of the batch need.
    public mutating func next(copies: Int?, rows: Int) -> Int {
        last = max(version(copies: copies), rows)
        return last
    }

    /// Returns the version that all readers of the chain read.
    ///
    /// - Parameter copies: the lowest version among those that the copies read; `nil` if it is unknown yet.
    public func version(copies: Int?) -> Int { max(last, min(own, copies ?? last)) }
}
