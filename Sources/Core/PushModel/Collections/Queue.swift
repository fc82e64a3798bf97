/// A FIFO queue with amortised constant time at both ends. It keeps no memory while it is empty.
public struct Queue<Element> {
    @usableFromInline var storage: [Element?] = []
    @usableFromInline var head = 0

    /// An empty queue.
    @inlinable
    public init() {}

    /// The number of elements.
    @inlinable
    public var count: Int { storage.count - head }

    /// Whether the queue has no element.
    @inlinable
    public var isEmpty: Bool { head == storage.count }

    /// The oldest element.
    @inlinable
    public var first: Element? { isEmpty ? nil : storage[head] }

    /// The element at `place`, where 0 is the oldest.
    @inlinable
    public subscript(place: Int) -> Element {
        guard let element = storage[head + place] else { preconditionFailure("no element waits at \(place)") }
        return element
    }

    /// Changes the oldest element in place; does nothing if the queue is empty.
    @inlinable
    public mutating func changeFirst<Result>(_ body: (inout Element) -> Result) -> Result? {
        guard !isEmpty, var element = storage[head].take() else { return nil }
        defer { storage[head] = element }
        return body(&element)
    }

    /// The newest element.
    @inlinable
    public var last: Element? { isEmpty ? nil : storage[storage.count - 1] }

    /// Whether all elements satisfy a predicate; copies none.
    @inlinable
    public func allSatisfy(_ isSo: (Element) -> Bool) -> Bool {
        for place in head..<storage.count { if let element = storage[place], !isSo(element) { return false } }
        return true
    }

    /// Adds an element at the end.
    @inlinable
    public mutating func append(_ element: Element) { storage.append(element) }

    /// Takes the newest element.
    @inlinable
    public mutating func popLast() -> Element? {
        guard !isEmpty else { return nil }
        defer {
            if head == storage.count {
                storage = []
                head = 0
            }
        }
        return storage.removeLast()
    }

    /// Takes the oldest element.
    @inlinable
    public mutating func popFirst() -> Element? {
        guard head < storage.count else { return nil }
        defer {
            if head == storage.count {
                storage = []
                head = 0
            } else if head > 32, head * 2 > storage.count {
                storage.removeFirst(head)
                head = 0
            }
        }
        let element = storage[head].take()
        head += 1
        return element
    }
}

extension Queue: Sequence {
    /// Iterates over the elements from the oldest to the newest, and leaves them in the queue.
    @inlinable
    public func makeIterator() -> AnyIterator<Element> {
        var rest = storage[head...]
        return AnyIterator { rest.popFirst() ?? nil }
    }
}

extension Queue: Sendable where Element: Sendable {}
