import PushModel

/// An event of CloudEvents 1.0: an invocation that is posted. Used while its line lives.
///
/// https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md, its binding to HTTP and its format in JSON beside
/// it, `expirytime` in extensions/expirytime.md.
struct CloudEvent {
    /// How long the value of a header may be, in bytes.
    static let longestHeader = 1024

    /// The same for every attempt of an invocation, and for no other: a receiver may pass over what it has had. The time
    /// of acceptance tells ledgers apart that count from 1.
    let id: String
    private let source: String
    private let line: JSONView
    private let delivery: JSONView?

    /// - Parameters:
    ///   - line: the invocation's.
    ///   - source: who posts it, a URI.
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

    /// Gives the attributes with their values, but what the data is.
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

    /// Shows the name of a fact as an attribute, which has lower-case letters and digits alone.
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

    /// The event as one object.
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
    /// Shows a string, a number or a boolean as text; nothing for anything else.
    func withScalar(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        switch kind {
        case .string: withText(body)
        case .number, .bool: body(rawBytes)
        case .object, .array, .null: break
        }
    }
}
