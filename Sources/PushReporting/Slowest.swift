public import PushModel

/// The decided rows with the longest `total`, longest first; of equal ones the one accepted first.
public struct Slowest: Hashable, Sendable {
    /// How many are kept.
    public static let capacity = 10

    /// The rows; each has a result.
    public private(set) var rows: [InvocationRecord] = []

    mutating func add(_ row: InvocationRecord) {
        let place = rows.firstIndex { Self.isSlower(row, $0) } ?? rows.count
        guard place < Self.capacity else { return }
        if rows.count == Self.capacity { rows.removeLast() }
        rows.insert(row, at: place)
    }

    private static func isSlower(_ left: InvocationRecord, _ right: InvocationRecord) -> Bool {
        let times = (left.result?.total ?? .zero, right.result?.total ?? .zero)
        return times.0 == times.1 ? left.id < right.id : times.0 > times.1
    }
}
