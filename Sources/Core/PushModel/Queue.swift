/// First in, first out; amortised constant time at both ends, and no memory kept when empty.
public struct Queue<Element> {
    @usableFromInline var storage: [Element?] = []
    @usableFromInline var head = 0

    /// An empty queue.
    @inlinable
    public init() {}

    /// How many elements wait.
    @inlinable
    public var count: Int { storage.count - head }

    /// Whether none waits.
    @inlinable
    public var isEmpty: Bool { head == storage.count }

    /// The one that waited longest.
    @inlinable
    public var first: Element? { isEmpty ? nil : storage[head] }

    /// One of them: 0 is the one that waited longest.
    @inlinable
    public subscript(place: Int) -> Element {
        guard let element = storage[head + place] else { preconditionFailure("no element waits at \(place)") }
        return element
    }

    /// Changes the one that waited longest where it is; does nothing when there is none.
    @inlinable
    public mutating func changeFirst<Result>(_ body: (inout Element) -> Result) -> Result? {
        guard !isEmpty, var element = storage[head].take() else { return nil }
        defer { storage[head] = element }
        return body(&element)
    }

    /// The one that came last.
    @inlinable
    public var last: Element? { isEmpty ? nil : storage[storage.count - 1] }

    /// Whether all are so; looks at each where it is, and copies none.
    @inlinable
    public func allSatisfy(_ isSo: (Element) -> Bool) -> Bool {
        for place in head..<storage.count { if let element = storage[place], !isSo(element) { return false } }
        return true
    }

    /// Adds one at the end.
    @inlinable
    public mutating func append(_ element: Element) { storage.append(element) }

    /// Takes the one that came last.
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

    /// Takes the one that waited longest.
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
    /// The elements in the order in which they came; they stay.
    @inlinable
    public func makeIterator() -> AnyIterator<Element> {
        var rest = storage[head...]
        return AnyIterator { rest.popFirst() ?? nil }
    }
}

extension Queue: Sendable where Element: Sendable {}
