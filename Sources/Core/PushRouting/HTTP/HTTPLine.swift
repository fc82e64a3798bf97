public import PushModel

/// One line that `pushrouter-http` gets: an invocation to post, or one that nobody waits for any more.
public enum HTTPLine: Sendable {
    /// Post it, and answer with its id.
    case post(HTTPInvocation)
    /// The invocation of this id missed its deadline: break it off, and answer it, so that the line is free again.
    case cancel(id: Int64)

    /// Reads a line.
    ///
    /// - Parameter line: without its line feed.
    /// - Throws: why it can be neither posted nor answered.
    public init(_ line: [UInt8]) throws(LineFault) {
        guard let root = try? JSONDocument(scanning: line, limits: JSONLimits(depth: .max)).root, root.kind == .object
        else { throw .notAnObject }
        if let id = root["cancel"]?.int64 {
            self = .cancel(id: id)
            return
        }
        guard let id = root["id"]?.int64 else { throw .noID }
        self = .post(HTTPInvocation(id: id, root))
    }

    /// The line that takes one back.
    public static func cancellation(of id: Int64) -> [UInt8] {
        var writer = JSONWriter(reserving: 32)
        writer.object { $0.member("cancel", id) }
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}

/// An invocation, as its line tells it.
public struct HTTPInvocation: Sendable {
    /// What the answer must repeat.
    public let id: Int64
    /// The name of the handler.
    public let handler: String
    /// What was left of its time when the line was written.
    public let remaining: Duration
    private let line: JSONNode

    init(id: Int64, _ line: JSONNode) {
        self.id = id
        self.line = line
        handler = line["delivery"]?["handler"]?.string ?? ""
        remaining = .milliseconds(max(0, line["deadline"]?["remaining_ms"]?.int64 ?? 0))
    }

    /// The facts that every format has in headers, and their headers.
    private static let toldInHeaders = [
        ("op", "Push-Op"), ("callback", "Push-Callback"), ("lane", "Push-Lane"), ("attempt", "Push-Attempt"),
    ]

    /// What is posted for it.
    ///
    /// - Parameters:
    ///   - endpoint: where to, and how.
    ///   - source: who posts it, a URI.
    ///   - keys: what it is signed by; `nil`: it is not signed.
    ///   - now: the time of the signature.
    public func request(
        to endpoint: HTTPEndpoint, source: String, keys: SigningKeys?, at now: WallTime
    ) -> HTTPRequest {
        let object = object
        var headers: [String] = []
        headers.reserveCapacity(32)
        headers.append("Push-Deadline-Ms: \(remaining.milliseconds)")
        let delivery = line["delivery"]
        for (name, header) in Self.toldInHeaders {
            guard let value = delivery?[name]?.scalar.map(CloudEvent.escaped),
                value.utf8.count <= CloudEvent.longestHeader
            else { continue }
            headers.append("\(header): \(value)")
        }
        let body: [UInt8]
        switch endpoint.format {
        case .plain:
            headers.append("Content-Type: application/json")
            body = object
        case .cloudEvents:
            headers.append("Content-Type: application/json")
            for (name, value) in event(from: source).attributes {
                let escaped = CloudEvent.escaped(value)
                // What is longer no server takes as a header. The body has it whole.
                if escaped.utf8.count <= CloudEvent.longestHeader { headers.append("ce-\(name): \(escaped)") }
            }
            body = object
        case .structuredCloudEvents:
            headers.append("Content-Type: application/cloudevents+json; charset=utf-8")
            body = event(from: source).structured(data: object)
        }
        if let keys {
            headers.append("webhook-id: \(eventID)")
            headers.append("webhook-timestamp: \(now.seconds)")
            headers.append("webhook-signature: \(keys.signature(id: eventID, timestamp: now.seconds, body: body))")
        }
        return HTTPRequest(headers: headers + endpoint.headers, body: body)
    }

    /// The object that every kind of handler gets: the line without its id.
    private var object: [UInt8] {
        line.withView { line in
            var object: [UInt8] = []
            object.reserveCapacity(line.rawBytes.count)
            object.append(UInt8(ascii: "{"))
            for (key, value) in line.members where !key.equals("id") {
                if object.count > 1 { object.append(UInt8(ascii: ",")) }
                object.append(contentsOf: key.rawBytes)
                object.append(UInt8(ascii: ":"))
                object.append(contentsOf: value.rawBytes)
            }
            object.append(UInt8(ascii: "}"))
            return object
        }
    }

    /// The same for every attempt of an invocation, and for no other: a receiver may pass over what it has had. The time
    /// of acceptance tells ledgers apart that count from 1.
    private var eventID: String {
        let delivery = line["delivery"]
        let accepted = (delivery?["accepted_at"]?.string ?? "").utf8.filter { 48...57 ~= $0 }
        let number = delivery?["seq"]?.int64 ?? 0
        return "\(number)-\(delivery?["n"]?.int64 ?? 0)-\(String(decoding: accepted, as: UTF8.self))"
    }

    private func event(from source: String) -> CloudEvent {
        CloudEvent(
            id: eventID, source: source, facts: line["delivery"]?.members ?? [],
            expiry: line["deadline"]?["at"]?.string)
    }
}

/// What is posted.
public struct HTTPRequest: Hashable, Sendable {
    /// Header lines, `Name: value`, without a line end.
    public let headers: [String]
    /// The body.
    public let body: [UInt8]
}

/// An event of CloudEvents 1.0.
///
/// https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md, its binding to HTTP and its format in JSON beside
/// it, `expirytime` in extensions/expirytime.md.
struct CloudEvent {
    /// How long the value of a header may be, in bytes.
    static let longestHeader = 1024

    /// The attributes with their values, but what the data is.
    let attributes: [(name: String, value: String)]

    /// - Parameters:
    ///   - id: with the source unique.
    ///   - source: who has it.
    ///   - facts: the members of `delivery`.
    ///   - expiry: the deadline.
    init(id: String, source: String, facts: [(key: String, value: JSONNode)], expiry: String?) {
        let operation = facts.first { $0.key == "op" }?.value.string ?? "deliver"
        var attributes = [
            ("specversion", "1.0"), ("id", id), ("source", source), ("type", "local.pushrouterd.\(operation)"),
        ]
        if let expiry { attributes.append(("expirytime", expiry)) }
        for (key, node) in facts {
            guard let value = node.scalar else { continue }
            attributes.append((Self.name(of: key), value))
        }
        self.attributes = attributes
    }

    /// The name of a fact as an attribute, which has lower-case letters and digits alone.
    private static func name(of fact: String) -> String {
        switch fact {
        case "accepted_at": "time"
        case "id": "requestid"
        default:
            String(
                decoding: fact.utf8.compactMap { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
                    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
                    default: nil
                    }
                }, as: UTF8.self)
        }
    }

    /// The event as one object.
    func structured(data: [UInt8]) -> [UInt8] {
        var writer = JSONWriter(reserving: data.count + 1024)
        writer.object { writer in
            for (name, value) in attributes { writer.member(name, value) }
            writer.member("datacontenttype", "application/json")
            writer.member("data", raw: data)
        }
        return writer.bytes
    }

    /// A value as a header has it: percent-encoded as the binding to HTTP says (3.1.3.2).
    static func escaped(_ value: String) -> String {
        guard !value.utf8.allSatisfy(\.standsInHeader) else { return value }
        var bytes: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in value.utf8 {
            if byte.standsInHeader {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var standsInHeader: Bool {
        0x21...0x7E ~= self && self != UInt8(ascii: "\"") && self != UInt8(ascii: "%")
    }
}

extension JSONNode {
    /// A string, a number or a boolean as text; `nil` for anything else.
    fileprivate var scalar: String? {
        switch kind {
        case .string: string
        case .number, .bool: String(decoding: rawBytes, as: UTF8.self)
        case .object, .array, .null: nil
        }
    }
}
