import PushModel

/// The lines to send, in one queue for each connection; the connections take turns.
struct FairLineQueue<Line> {
    private var queues: [UInt64: Queue<Line>] = [:]
    /// The connections with lines, in the order of their turns.
    private var turns = Queue<UInt64>()
    /// The number of lines.
    private(set) var count = 0

    mutating func append(_ line: Line, of connection: UInt64) {
        if queues[connection] == nil {
            queues[connection] = Queue()
            turns.append(connection)
        }
        queues[connection]?.append(line)
        count += 1
    }

    /// Takes the next line, by turns.
    mutating func popFirst() -> Line? {
        guard let connection = turns.popFirst(), let line = queues[connection]?.popFirst() else { return nil }
        count -= 1
        if queues[connection]?.isEmpty == false { turns.append(connection) } else { queues[connection] = nil }
        return line
    }
}
