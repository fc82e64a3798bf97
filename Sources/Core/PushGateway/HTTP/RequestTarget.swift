import PushModel

/// The path and the query of a request, undecoded.
public struct RequestTarget: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// - Parameter text: the path, and an optional query after `?`.
    public init(_ text: String) { description = text }

    /// The decoded segments of the path. `nil` for a path that does not begin with a slash, or with an invalid escape.
    public var segments: [String]? {
        let path = description.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard path.first == UInt8(ascii: "/") else { return nil }
        var segments: [String] = []
        for segment in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let text = String(percentDecoding: segment, plusIsSpace: false) else { return nil }
            segments.append(text)
        }
        return segments
    }

    /// The first value of the query with one of these names, or `nil`.
    public func query(_ names: String...) -> String? {
        let query = description.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst().prefix { $0 != UInt8(ascii: "#") }
        return FormText(query).first(names)
    }
}

/// A text of `application/x-www-form-urlencoded`, the form of bodies and queries.
struct FormText {
    /// The decoded names and values, without fields that have an invalid escape.
    let fields: [(name: String, value: String)]

    init(_ bytes: some Collection<UInt8>) {
        fields = bytes.split(separator: UInt8(ascii: "&")).compactMap { field in
            let name = field.prefix { $0 != UInt8(ascii: "=") }
            guard let key = String(percentDecoding: name, plusIsSpace: true),
                let value = String(percentDecoding: field.dropFirst(name.count + 1), plusIsSpace: true)
            else { return nil }
            return (key, value)
        }
    }

    /// The first value with one of these names, or `nil`.
    func first(_ names: [String]) -> String? { fields.first { names.contains($0.name) }?.value }
}
