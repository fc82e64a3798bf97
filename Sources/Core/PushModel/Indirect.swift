/// A large value behind a reference. It takes eight bytes where it is stored, and passing it on copies no more. It
/// keeps value semantics: a change through one copy leaves the other copies as they are.
public struct Indirect<Value: Sendable>: Sendable {
    /// `@unchecked Sendable` is sound: the value is changed only by a holder that has the only reference.
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
