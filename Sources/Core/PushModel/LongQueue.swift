/// First in, first out, for very many: neither end ever moves more than a piece of some hundred elements, where `Queue`
/// moves all of them now and then.
public struct LongQueue<Element> {
    private static var pieceLength: Int { 512 }

    private var head = Queue<Element>()
    private var pieces = Queue<[Element]>()
    private var tail: [Element] = []

    /// An empty queue.
    public init() {}

    /// How many elements wait.
    public var count: Int { head.count + pieces.count * Self.pieceLength + tail.count }

    /// Adds one at the end.
    public mutating func append(_ element: Element) {
        tail.append(element)
        guard tail.count == Self.pieceLength else { return }
        pieces.append(tail)
        tail = []
    }

    /// Takes the one that waited longest.
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
