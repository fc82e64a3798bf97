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

/// A large value behind a reference: a field of it has eight bytes, and passing it on copies only the reference. It
/// keeps value semantics by copying on write.
public struct Indirect<Value: Sendable>: Sendable {
    /// `@unchecked Sendable` is sound: only a holder of the only reference changes the value.
    @usableFromInline final class Storage: @unchecked Sendable {
        @usableFromInline var value: Value

        @inlinable
        init(_ value: consuming Value) { self.value = value }
    }

    @usableFromInline var storage: Storage

    /// Puts a value behind a reference.
    @inlinable
    public init(_ value: consuming Value) { storage = Storage(value) }

    /// The value.
    @inlinable public var value: Value {
        _read { yield storage.value }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
            yield &storage.value
        }
    }
}

extension Indirect: Equatable where Value: Equatable {
    @inlinable
    public static func == (left: Indirect, right: Indirect) -> Bool {
        left.storage === right.storage || left.value == right.value
    }
}

extension Indirect: Hashable where Value: Hashable {
    @inlinable
    public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
