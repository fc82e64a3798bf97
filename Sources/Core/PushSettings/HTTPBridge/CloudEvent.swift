import PushModel

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
