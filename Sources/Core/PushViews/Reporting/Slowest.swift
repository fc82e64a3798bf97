public import PushModel

/// The slowest decided rows, the longest first; of equal times the lower id first.
public struct Slowest: Hashable, Sendable {
    /// The time to compare.
    enum Measure {
        case total, queue
    }

    /// The most rows to keep.
    public static let capacity = 10

    /// The rows; each has a result.
    public private(set) var rows: [InvocationRecord] = []
    private let measure: Measure

    init(by measure: Measure = .total) { self.measure = measure }

    mutating func add(_ row: InvocationRecord) {
        let place = rows.firstIndex { isSlower(row, $0) } ?? rows.count
        guard place < Self.capacity else { return }
        if rows.count == Self.capacity { rows.removeLast() }
        rows.insert(row, at: place)
    }

    private func isSlower(_ left: InvocationRecord, _ right: InvocationRecord) -> Bool {
        let times = (time(of: left), time(of: right))
        return times.0 == times.1 ? left.id < right.id : times.0 > times.1
    }

    private func time(of row: InvocationRecord) -> Duration {
        guard let result = row.result else { return .zero }
        return switch measure {
        case .total: result.total
        case .queue: result.queue
        }
    }
}
