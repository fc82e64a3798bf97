/// A binary min-heap. It has no search: users leave stale elements in it, and check each that they pop. Inlinable,
/// so that each module specializes it for its own elements.
public struct Heap<Element: Comparable> {
    @usableFromInline var elements: [Element] = []

    /// An empty heap.
    @inlinable
    public init() {}

    /// The smallest element.
    @inlinable
    public var first: Element? { elements.first }

    /// The number of elements.
    @inlinable
    public var count: Int { elements.count }

    /// Combines all elements, in no order.
    @inlinable
    public func reduce<Result>(_ initial: Result, _ next: (Result, Element) -> Result) -> Result {
        elements.reduce(initial, next)
    }

    /// Removes the stale elements, in linear time.
    @inlinable
    public mutating func removeAll(where isStale: (Element) -> Bool) {
        let kept = elements.filter { !isStale($0) }
        elements = []
        elements.reserveCapacity(kept.count)
        for element in kept { insert(element) }
    }

    /// The element at a place from 0 to `count`, in no order.
    @inlinable
    public subscript(place: Int) -> Element { elements[place] }

    /// Adds an element, in logarithmic time.
    @inlinable
    public mutating func insert(_ element: Element) {
        elements.append(element)
        siftUp(from: elements.count - 1)
    }

    /// Takes out the smallest element, in logarithmic time.
    @inlinable
    public mutating func popFirst() -> Element? { elements.isEmpty ? nil : remove(at: 0) }

    /// Takes out the element at a place, in logarithmic time. Other elements change their places.
    @inlinable
    @discardableResult
    public mutating func remove(at place: Int) -> Element {
        let removed = elements[place]
        let last = elements.removeLast()
        guard place < elements.count else { return removed }
        elements[place] = last
        if place > 0, last < elements[(place - 1) / 2] { siftUp(from: place) } else { siftDown(from: place) }
        return removed
    }

    @inlinable
    mutating func siftUp(from place: Int) {
        var child = place
        while child > 0, elements[child] < elements[(child - 1) / 2] {
            elements.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    @inlinable
    mutating func siftDown(from place: Int) {
        var parent = place
        while true {
            let left = parent * 2 + 1
            guard left < elements.count else { return }
            let child = left + 1 < elements.count && elements[left + 1] < elements[left] ? left + 1 : left
            guard elements[child] < elements[parent] else { return }
            elements.swapAt(child, parent)
            parent = child
        }
    }
}

extension Heap: Sendable where Element: Sendable {}
