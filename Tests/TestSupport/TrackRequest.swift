import PushModel

/// A request that the test server received.
public struct TrackRequest: Sendable {
    /// An element of the request's arrays.
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

    /// The position among all received requests, from 0.
    public var number: Int
    /// The headers by name in lower case.
    public var headers: [String: String]
    /// The body.
    public var body: [UInt8]
    /// The elements, attributes first: the order in which the endpoint takes them.
    public private(set) var elements: [Element] = []
    /// The violations of the endpoint's rules and of the limits.
    public private(set) var violations: [String] = []

    /// The limits of a request.
    public struct Limits: Sendable {
        /// The most elements of each array.
        public var each = 75
        /// The most elements of both arrays.
        public var combined = 150
        /// The expected `Authorization` header.
        public var authorization: String?

        /// The provider's limits.
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
            violations.append("the body is not JSON object")
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
