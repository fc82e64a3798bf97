/// The bounds of a batch of rows. The writer, the log, the copies of a ledger and a pair share them.
public enum BatchLimits {
    /// The most bytes of rows that one request may have beside the bytes of its line.
    public static let besideRequest = 1 << 20

    /// The longest request line that `RequestLengthMax=` allows, in bytes.
    public static let longestRequest = 16 << 20

    /// The longest batch of any configuration, in bytes of rows: a reader takes no longer one for a batch.
    public static let longest = longestRows(requestLength: longestRequest)

    /// How many of its longest batches a log has room for, at least.
    public static let batchesInLog = 4

    /// The longest batch of rows, in bytes.
    ///
    /// - Parameter requestLength: `RequestLengthMax=`, in bytes.
    public static func longestRows(requestLength: Int) -> Int { requestLength + besideRequest }
}
