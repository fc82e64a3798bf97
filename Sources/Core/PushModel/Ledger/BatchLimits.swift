/// The bounds of a batch of rows. The writer, the log, the copies of a ledger and a pair share them.
public enum BatchLimits {
    /// The most bytes of rows that one request may have beside the bytes of its line.
    public static let besideRequest = 1 << 20

    /// The longest request line that `RequestLengthMax=` allows, in bytes.
    static let longestRequest = 16 << 20

    /// The longest batch of any configuration, in bytes of rows. No writer makes a longer one.
    public static let longest = longestRows(requestLength: longestRequest)

    /// The longest batch that a reader takes for one, in bytes with header and padding: versions before 1.0 wrote
    /// batches that were longer than `longest`.
    public static let longestReadable = 128 << 20

    /// How many of its longest batches a log has room for, at least.
    public static let batchesInLog = 4

    /// The least length of a log that has room for the batches of any configuration, in bytes: with headers and padding.
    public static let shortestLog = batchesInLog * (longest + (64 << 10))

    /// The longest batch of rows, in bytes.
    ///
    /// - Parameter requestLength: `RequestLengthMax=`, in bytes.
    public static func longestRows(requestLength: Int) -> Int { requestLength + besideRequest }
}
