import PushModel

/// Which top-level keys a payload may have, in 24 bytes: what is not in it need not be looked for.
///
/// Most rules ask for keys that are not there, and every delivery is held against all of them.
struct KeySketch: Hashable, Sendable {
    /// A bit of each for every key, by its hash.
    private var low: UInt64 = 0
    private var high: UInt64 = 0
    /// A bit for the first byte of every key.
    private var first: UInt64 = 0

    init() {}

    /// All keys of an object, also those that the app does not see.
    init(keysOf object: JSONNode?) {
        var sketch = KeySketch()
        object?.forEachKey { sketch.insert($0) }
        self = sketch
    }

    /// What a payload's sketch must contain for a condition to hold; `nil` when it tells nothing.
    init?(_ condition: ProviderCondition) {
        self.init()
        switch condition {
        case .value(let path, _):
            var key = path[0]
            key.withUTF8 { insert($0) }
        case .keyBeginning(let prefix): first = prefix.utf8.first.map(Self.bit) ?? 0
        case .keyCount: return nil
        }
    }

    /// Whether all of `other` is in this.
    func contains(_ other: KeySketch) -> Bool {
        other.low & ~low == 0 && other.high & ~high == 0 && other.first & ~first == 0
    }

    mutating func formUnion(_ other: KeySketch) {
        low |= other.low
        high |= other.high
        first |= other.first
    }

    private mutating func insert(_ key: UnsafeBufferPointer<UInt8>) {
        // FNV-1a.
        var hash: UInt32 = 2_166_136_261
        for byte in key { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        low |= 1 << UInt64(hash & 63)
        high |= 1 << UInt64(hash >> 26)
        if let byte = key.first { first |= Self.bit(byte) }
    }

    private static func bit(_ byte: UInt8) -> UInt64 { 1 << UInt64(byte & 63) }
}
