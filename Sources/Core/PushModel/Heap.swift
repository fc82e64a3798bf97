/// A binary heap: the smallest element first. Single elements are not removed early; whoever takes one out checks that it
/// still holds. Inlinable, so that each module has one for its own elements.
public struct Heap<Element: Comparable> {
    @usableFromInline var elements: [Element] = []

    /// An empty heap.
    @inlinable
    public init() {}

    /// The smallest element.
    @inlinable
    public var first: Element? { elements.first }

    /// How many elements there are.
    @inlinable
    public var count: Int { elements.count }

    /// Combines all elements, in no order.
    @inlinable
    public func reduce<Result>(_ initial: Result, _ next: (Result, Element) -> Result) -> Result {
        elements.reduce(initial, next)
    }

    /// Keeps only those that still mean something, in linear time.
    @inlinable
    public mutating func removeAll(where isStale: (Element) -> Bool) {
        let kept = elements.filter { !isStale($0) }
        elements = []
        elements.reserveCapacity(kept.count)
        for element in kept { insert(element) }
    }

    /// Adds one, in logarithmic time.
    @inlinable
    public mutating func insert(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0, elements[child] < elements[(child - 1) / 2] {
            elements.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes out the smallest element, in logarithmic time.
    @inlinable
    public mutating func popFirst() -> Element? {
        guard let first = elements.first, let last = elements.popLast() else { return nil }
        guard !elements.isEmpty else { return first }
        elements[0] = last
        var parent = 0
        while true {
            let left = parent * 2 + 1
            guard left < elements.count else { return first }
            let child = left + 1 < elements.count && elements[left + 1] < elements[left] ? left + 1 : left
            guard elements[child] < elements[parent] else { return first }
            elements.swapAt(child, parent)
            parent = child
        }
    }
}

extension Heap: Sendable where Element: Sendable {}
