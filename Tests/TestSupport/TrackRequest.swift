import PushModel

/// A request that the server of the tests received.
public struct TrackRequest: Sendable {
    /// One element of its arrays.
    public struct Element: Hashable, Sendable {
        /// `attributes` or `events`.
        public var array: String
        /// The identifier, as JSON.
        public var user: String
        /// The name of an event.
        public var name: String?
        /// The properties, or the attributes, as JSON.
        public var data: String
    }

    /// Its place among all that were received, from 0.
    public var number: Int
    /// By name, in lower case.
    public var headers: [String: String]
    /// The body.
    public var body: [UInt8]
    /// The elements, attributes first, as the endpoint takes them.
    public private(set) var elements: [Element] = []
    /// What the endpoint, or its limits, would not have.
    public private(set) var violations: [String] = []

    /// What a request may have.
    public struct Limits: Sendable {
        /// Elements of each array.
        public var each = 75
        /// Elements of both.
        public var combined = 150
        /// The header `Authorization` that is expected.
        public var authorization: String?

        /// The provider's.
        public init() {}
    }

    init(number: Int, start: String, headers: [String: String], body: [UInt8], limits: Limits) {
        self.number = number
        self.headers = headers
        self.body = body
        expect(start == "POST /users/track HTTP/1.1", "the request line is \(start)")
        expect(headers["content-type"] == "application/json", "the type is \(headers["content-type"] ?? "not said")")
        if let authorization = limits.authorization {
            expect(headers["authorization"] == authorization, "the key is another")
        }
        expect(body.count <= 1 << 20, "the body has \(body.count) bytes")
        guard let root = try? JSONDocument(scanning: body).root, root.kind == .object else {
            violations.append("the body is no JSON object")
            return
        }
        for (name, value) in root.members {
            expect(["attributes", "events"].contains(name), "there is no array \(name)")
            expect(1...limits.each ~= value.count, "\(name) has \(value.count) elements")
            for element in value.elements { note(element, in: name) }
        }
        let count = elements.count
        expect(1...limits.combined ~= count, "there are \(count) elements")
    }

    private mutating func expect(_ condition: Bool, _ complaint: @autoclosure () -> String) {
        if !condition { violations.append("request \(number): \(complaint())") }
    }

    private mutating func note(_ element: JSONNode, in array: String) {
        let identifiers = element.members.filter { ["external_id", "braze_id", "user_alias"].contains($0.key) }
        expect(identifiers.count == 1, "an element has \(identifiers.count) identifiers")
        let user = identifiers.first.map { "\($0.key) \(text($0.value))" } ?? ""
        var rest = element.members.filter { !["external_id", "braze_id", "user_alias"].contains($0.key) }
        rest.removeAll { $0.key == "_update_existing_only" }
        if array == "events" {
            expect(element["time"]?.string.flatMap(WallTime.init(rfc3339:)) != nil, "an event has no time")
            expect(element["name"]?.string?.isEmpty == false, "an event has no name")
            expect(rest.allSatisfy { ["name", "time", "properties"].contains($0.key) }, "an event has odd members")
            elements.append(
                Element(
                    array: array, user: user, name: element["name"]?.string,
                    data: element["properties"].map(text) ?? "{}"))
        } else {
            let members = rest.map { #""\#($0.key)":\#(text($0.value))"# }
            elements.append(
                Element(array: array, user: user, name: nil, data: "{\(members.joined(separator: ","))}"))
        }
    }
}

private func text(_ node: JSONNode) -> String { String(decoding: node.rawBytes, as: UTF8.self) }
