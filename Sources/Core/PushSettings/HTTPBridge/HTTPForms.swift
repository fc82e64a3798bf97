import PushModel

extension Form<String> {
    /// An `http` or `https` address. Messages never repeat it: its path or its query may contain a secret.
    static let webAddress = Form { text throws(ValueError) in
        var rest = Array(text.utf8)[...]
        let scheme = rest.take { $0 != UInt8(ascii: ":") }.text.lowercased()
        guard ["https", "http"].contains(scheme), rest.starts(with: "://".utf8) else {
            throw ValueError("must be an address that begins with https:// or http://")
        }
        rest = rest.dropFirst(3)
        guard !rest.contains(UInt8(ascii: "#")) else {
            throw ValueError("must have no fragment (# and the text behind it)")
        }
        guard rest.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw ValueError("must have visible ASCII characters only; write others as %XX")
        }
        let authority = rest.take { ![UInt8(ascii: "/"), UInt8(ascii: "?")].contains($0) }
        guard !authority.contains(UInt8(ascii: "@")) else {
            throw ValueError("must have no user and password; put a token into the file of BearerFile=")
        }
        let (host, port) = try hostAndPort(authority)
        return "\(scheme)://\(host)\(port)\(rest.first == UInt8(ascii: "/") ? "" : "/")\(rest.text)"
    }

    /// A file by its absolute path, or a systemd credential by its name.
    static let secretPlace = Form { text throws(ValueError) in
        if text.utf8.first == UInt8(ascii: "/") { return text }
        guard text.utf8.count <= 255, !text.hasPrefix("."), !text.hasPrefix("whsec_"),
            text.utf8.allSatisfy({ $0.isLetter || $0.isDigit || [0x2D, 0x2E, 0x5F].contains($0) })
        else {
            throw ValueError(
                "must be the absolute path of a file, or the name of a systemd credential, never the secret itself")
        }
        return text
    }
}

extension Form<[String]> {
    /// A header line; each line of the file adds one.
    static let header = Form { text throws(ValueError) in
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0]
        guard parts.count == 2, !name.isEmpty, name.utf8.allSatisfy(\.isTokenByte) else {
            throw ValueError("must be a header: Name: value")
        }
        let value = parts[1].utf8.drop { $0 == 0x20 || $0 == 0x09 }
        guard !value.isEmpty, value.allSatisfy({ 0x20...0x7E ~= $0 }) else {
            throw ValueError("must have a value of visible ASCII characters after \(name):")
        }
        let lower = name.lowercased()
        guard !reserved.contains(lower), !reservedPrefixes.contains(where: lower.hasPrefix) else {
            throw ValueError("\(name): this header is set by pushrouter-http itself")
        }
        return ["\(name): \(String(Substring(value)))"]
    }

    private static let reserved: Set<String> = [
        "host", "content-length", "content-type", "transfer-encoding", "connection", "expect", "te", "trailer",
        "upgrade",
    ]

    private static let reservedPrefixes = ["ce-", "webhook-", "push-"]
}

extension UInt8 {
    /// Whether it is a token character, as in a header's name (RFC 9110, 5.6.2).
    fileprivate var isTokenByte: Bool { isLetter || isDigit || Array("!#$%&'*+-.^_`|~".utf8).contains(self) }
}

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

/// An event of CloudEvents 1.0 for an invocation to post. Valid while its line lives.
///
/// https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md, with its HTTP binding and its JSON format;
/// `expirytime`: extensions/expirytime.md.
struct CloudEvent {
    /// The limit of a header's value, in bytes.
    static let longestHeader = 1024

    /// The id of the invocation, equal for all its attempts and unique, so that a receiver may skip repetitions. It
    /// contains the time of acceptance, since every ledger counts from 1.
    let id: String
    private let source: String
    private let line: JSONView
    private let delivery: JSONView?

    /// - Parameters:
    ///   - line: the line of the invocation.
    ///   - source: the URI of the sender.
    init(_ line: JSONView, from source: String) {
        self.line = line
        self.source = source
        delivery = line.member("delivery")
        id = Self.id(of: delivery)
    }

    private static func id(of delivery: JSONView?) -> String {
        let numbers = "\(delivery?.member("seq")?.int64 ?? 0)-\(delivery?.member("n")?.int64 ?? 0)-"
        guard let accepted = delivery?.member("accepted_at") else { return numbers }
        return numbers + accepted.withText { String(decoding: $0.filter(\.isDigit), as: UTF8.self) }
    }

    /// Calls `take` with each attribute and its value, except for the type of the data.
    func attributes(_ take: (_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Void) {
        func give(_ name: StaticString, _ value: String) { value.withBytes { take(name.bytes, $0) } }
        give("specversion", "1.0")
        give("id", id)
        give("source", source)
        give("type", "local.pushrouterd.\(delivery?.member("op")?.string ?? "deliver")")
        if let expiry = line.member("deadline")?.member("at"), expiry.isString {
            expiry.withText { take(StaticString("expirytime").bytes, $0) }
        }
        guard let delivery else { return }
        for (fact, value) in delivery.members {
            value.withScalar { value in Self.withName(of: fact) { take($0, value) } }
        }
    }

    /// Calls `body` with the name of a fact as an attribute: lower-case letters and digits only.
    private static func withName(of fact: JSONView, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        if fact.equals("accepted_at") { return body(StaticString("time").bytes) }
        if fact.equals("id") { return body(StaticString("requestid").bytes) }
        fact.withText { text in
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count) { name in
                var length = 0
                for byte in text {
                    let isCapital = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                    guard isCapital || byte.isDigit || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte else { continue }
                    name[length] = isCapital ? byte | 0x20 : byte
                    length += 1
                }
                body(UnsafeBufferPointer(rebasing: name[..<length]))
            }
        }
    }

    /// Returns the event as one JSON object.
    func structured(data: [UInt8]) -> [UInt8] {
        var writer = JSONWriter(reserving: data.count + 1024)
        writer.object { writer in
            attributes { writer.member(String(decoding: $0, as: UTF8.self), String(decoding: $1, as: UTF8.self)) }
            writer.member("datacontenttype", "application/json")
            writer.member("data", raw: data)
        }
        return writer.bytes
    }
}

extension JSONView {
    /// Calls `body` with the text of a string, a number or a boolean; does nothing for any other value.
    func withScalar(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        switch kind {
        case .string: withText(body)
        case .number, .bool: body(rawBytes)
        case .object, .array, .null: break
        }
    }
}
