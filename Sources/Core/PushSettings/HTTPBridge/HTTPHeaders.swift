import PushModel

/// The header lines of a request as one array of bytes: a `String` for each would cost more than all other work for a
/// request.
public struct HTTPHeaders: Hashable, Sendable {
    /// The lines, `Name: value`, each with a NUL after it.
    public private(set) var bytes: [UInt8] = []

    private static let colon: StaticString = ": "
    /// The prefix of attributes of CloudEvents.
    private static let prefix: StaticString = "ce-"

    init() { bytes.reserveCapacity(1024) }

    /// The lines as texts.
    public var lines: [String] { bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) } }

    /// Adds a line.
    mutating func append(_ line: String) {
        bytes.append(contentsOf: line.utf8)
        bytes.append(0)
    }

    /// Adds a header.
    public mutating func append(_ name: StaticString, _ value: String) {
        bytes.append(contentsOf: name.bytes)
        bytes.append(contentsOf: Self.colon.bytes)
        append(value)
    }

    /// Adds a header with any text as its value, percent-encoded if necessary. Omits a value that is longer than
    /// servers accept: the body has all of it.
    mutating func append(_ name: StaticString, escaping value: UnsafeBufferPointer<UInt8>) {
        append("", name.bytes, escaping: value)
    }

    /// Adds an attribute of CloudEvents, in the same way.
    mutating func append(attribute name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        append(Self.prefix, name, escaping: value)
    }

    private mutating func append(
        _ prefix: StaticString, _ name: UnsafeBufferPointer<UInt8>, escaping value: UnsafeBufferPointer<UInt8>
    ) {
        guard value.count <= CloudEvent.longestHeader else { return }
        let line = bytes.count
        bytes.append(contentsOf: prefix.bytes)
        bytes.append(contentsOf: name)
        bytes.append(contentsOf: Self.colon.bytes)
        let start = bytes.count
        // A loop without an early exit is vectorized.
        if value.reduce(true, { $0 && $1.standsInHeader }) {
            bytes.append(contentsOf: value)
        } else {
            for byte in value { appendEscaped(byte) }
        }
        guard bytes.count - start <= CloudEvent.longestHeader else { return bytes.removeSubrange(line...) }
        bytes.append(0)
    }

    /// Appends a byte with the percent-encoding of the HTTP binding of CloudEvents (3.1.3.2).
    private mutating func appendEscaped(_ byte: UInt8) {
        guard !byte.standsInHeader else { return bytes.append(byte) }
        bytes.append(UInt8(ascii: "%"))
        for digit in [byte >> 4, byte & 15] {
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
        }
    }
}

extension UInt8 {
    fileprivate var standsInHeader: Bool {
        0x21...0x7E ~= self && self != UInt8(ascii: "\"") && self != UInt8(ascii: "%")
    }
}
