public import PushModel

/// The numbers and times of the longest invocations, up to a limit. Of equally long ones it keeps those that were
/// accepted first.
public struct LongestInvocations: Hashable, Sendable {
    /// One invocation.
    public struct Entry: Hashable, Sendable, Comparable {
        /// Its time in microseconds.
        public let time: Int64
        /// Its id.
        public let id: InvocationID

        public static func < (left: Entry, right: Entry) -> Bool {
            left.time == right.time ? left.id < right.id : left.time > right.time
        }
    }

    /// The largest number of entries.
    public let capacity: Int
    /// The entries, the longest first.
    public private(set) var entries: [Entry] = []

    /// Makes an empty list.
    public init(capacity: Int) { self.capacity = capacity }

    /// Adds an invocation if it is among the longest.
    public mutating func add(_ id: InvocationID, time: Int64) { add(Entry(time: time, id: id)) }

    private mutating func add(_ entry: Entry) {
        if entries.count == capacity {
            guard let last = entries.last, entry < last else { return }
            entries.removeLast()
        }
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle] < entry { low = middle + 1 } else { high = middle }
        }
        entries.insert(entry, at: low)
    }

    func write(to writer: inout FigureWriter) {
        writer.number(entries.count)
        for entry in entries {
            writer.number(Int(entry.time))
            writer.number(Int(entry.id.seq.value))
            writer.number(entry.id.n)
        }
    }

    mutating func add(_ reader: inout FigureReader) throws(FigureError) {
        for _ in 0..<(try reader.number(below: capacity + 1)) {
            let time = Int64(try reader.number())
            let seq = SequenceNumber(Int64(try reader.number()))
            add(Entry(time: time, id: InvocationID(seq: seq, n: try reader.number())))
        }
    }
}
