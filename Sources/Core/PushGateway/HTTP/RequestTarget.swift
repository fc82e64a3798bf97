import PushModel

/// The path and the query of a request, undecoded.
public struct RequestTarget: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// - Parameter text: the path, and an optional query after `?`.
    public init(_ text: String) { description = text }

    /// The segments of the path, each percent-decoded; `nil` if the path does not begin with a slash, or has an invalid
    /// escape.
    public var segments: [String]? {
        let path = description.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard path.first == UInt8(ascii: "/") else { return nil }
        var segments: [String] = []
        for segment in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let text = FormText.decoded(segment, plusIsSpace: false) else { return nil }
            segments.append(text)
        }
        return segments
    }

    /// Returns the first value in the query under one of some names; `nil` if there is none.
    public func query(_ names: String...) -> String? {
        let query = description.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst().prefix { $0 != UInt8(ascii: "#") }
        return FormText(query).first(names)
    }
}

/// A text in `application/x-www-form-urlencoded`, the form of bodies and queries.
struct FormText {
    /// The decoded names and values, without those that have an invalid escape.
    let fields: [(name: String, value: String)]

    init(_ bytes: some Collection<UInt8>) {
        fields = bytes.split(separator: UInt8(ascii: "&")).compactMap { field in
            let name = field.prefix { $0 != UInt8(ascii: "=") }
            guard let key = Self.decoded(name, plusIsSpace: true),
                let value = Self.decoded(field.dropFirst(name.count + 1), plusIsSpace: true)
            else { return nil }
            return (key, value)
        }
    }

    /// Returns the first value under one of some names.
    func first(_ names: [String]) -> String? { fields.first { names.contains($0.name) }?.value }

    /// Returns a percent-decoded text; `nil` if an escape is invalid, or the bytes are not UTF-8.
    static func decoded(_ text: some Collection<UInt8>, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(hexadecimalValue(of:)),
                    let low = rest.next().flatMap(hexadecimalValue(of:))
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
