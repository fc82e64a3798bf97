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
