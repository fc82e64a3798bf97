/// A FIFO queue for very many elements. An operation moves at most 512 of them, where `Queue` moves all of its elements
/// now and then.
public struct LongQueue<Element> {
    private static var pieceLength: Int { 512 }

    private var head = Queue<Element>()
    private var pieces = Queue<[Element]>()
    private var tail: [Element] = []

    /// An empty queue.
    public init() {}

    /// The number of elements.
    public var count: Int { head.count + pieces.count * Self.pieceLength + tail.count }

    /// Adds an element at the end.
    public mutating func append(_ element: Element) {
        tail.append(element)
        guard tail.count == Self.pieceLength else { return }
        pieces.append(tail)
        tail = []
    }

    /// Takes the oldest element.
    public mutating func popFirst() -> Element? {
        if head.isEmpty {
            if let piece = pieces.popFirst() {
                for element in piece { head.append(element) }
            } else {
                for element in tail { head.append(element) }
                tail = []
            }
        }
        return head.popFirst()
    }
}

extension LongQueue: Sendable where Element: Sendable {}
