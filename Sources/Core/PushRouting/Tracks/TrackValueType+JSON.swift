import PushModel

/// The limit of nesting in the JSON of one value.
let valueDepthMax = JSONLimits().depth

extension TrackValueType {
    /// Returns a text converted to JSON of this type, without white space between tokens; `nil`: no such value.
    public func json(of text: String) -> [UInt8]? {
        switch self {
        case .string: Self.quoted(text)
        case .number: Self.scan(text, .number)?.compactBytes
        case .integer: Self.scan(text, .number).flatMap { $0.int64 == nil ? nil : $0.compactBytes }
        case .boolean: Self.boolean(text)
        case .date: Self.date(text).map(Self.quoted)
        case .array: Self.scan(text, .array)?.compactBytes
        case .object: Self.scan(text, .object)?.compactBytes
        case .json: Self.scan(text)?.compactBytes
        }
    }

    /// The required form of a text, with an example.
    public var described: String {
        switch self {
        case .string: "a text"
        case .number: "a number, such as 12.5"
        case .integer: "a whole number, such as 12"
        case .boolean: "true or false"
        case .date: "a date from the year 1 to 3000, such as 2026-11-21 or 2026-11-21T09:00:00Z"
        case .array: "the JSON of an array, such as [\"a\",\"b\"]"
        case .object: "the JSON of an object, such as {\"a\":1}"
        case .json: "JSON"
        }
    }

    private static func scan(_ text: String, _ kind: JSONNode.Kind? = nil) -> JSONNode? {
        guard let root = try? JSONDocument(scanning: Array(text.utf8), limits: JSONLimits(depth: valueDepthMax)).root,
            kind == nil || root.kind == kind
        else { return nil }
        return root
    }

    private static func quoted(_ text: String) -> [UInt8] {
        var writer = JSONWriter(reserving: text.utf8.count + 2)
        writer.string(text)
        return writer.bytes
    }

    private static func boolean(_ text: String) -> [UInt8]? {
        switch text.lowercased() {
        case "true", "1": Array("true".utf8)
        case "false", "0": Array("false".utf8)
        default: nil
        }
    }

    /// Returns a date as written, a date and time in UTC.
    private static func date(_ text: String) -> String? {
        // Braze stores a date after the year 3000 as a string, without an error.
        guard let year = Int(text.prefix(4)), (1...3000).contains(year) else { return nil }
        var bytes = Array(text.utf8)
        if bytes.count == 10 { return WallTime(rfc3339: text + "T00:00:00Z").map { _ in text } }
        guard bytes.count > 10 else { return nil }
        if bytes[10] == UInt8(ascii: " ") { bytes[10] = UInt8(ascii: "T") }
        let time = String(decoding: bytes, as: UTF8.self)
        return (WallTime(rfc3339: time) ?? WallTime(rfc3339: time + "Z"))?.rfc3339
    }
}
