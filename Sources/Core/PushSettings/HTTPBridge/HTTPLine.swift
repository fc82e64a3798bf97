public import PushModel
public import PushRouter

/// One line for `pushrouter-http`: an invocation to post, or a cancellation.
public enum HTTPLine: Sendable {
    /// Post the invocation, and answer with its id.
    case post(HTTPInvocation)
    /// The invocation with this id missed its deadline: abort the request, and answer it, so that the line is free
    /// again.
    case cancel(id: Int64)

    /// Reads a line.
    ///
    /// - Parameters:
    ///   - line: the line without its line feed.
    ///   - now: the time of the reading.
    /// - Throws: ``LineFault`` for a line that can neither be posted nor answered.
    public init(_ line: [UInt8], at now: Instant) throws(LineFault) {
        guard let root = try? JSONDocument(scanning: line, limits: JSONLimits(depth: .max)).root, root.kind == .object
        else { throw .notAnObject }
        if let id = root["cancel"]?.int64 {
            self = .cancel(id: id)
            return
        }
        guard let id = root["id"]?.int64 else { throw .noID }
        self = .post(HTTPInvocation(id: id, root, at: now))
    }
}

/// An invocation, as its line describes it.
public struct HTTPInvocation: Sendable {
    /// The id that the answer must repeat.
    public let id: Int64
    /// The name of the handler.
    public let handler: String
    /// The deadline.
    public let deadline: Instant
    private let line: JSONNode

    /// The limit of a deadline, for any line.
    private static let longest = Duration.seconds(24 * 3600)

    init(id: Int64, _ line: JSONNode, at now: Instant) {
        self.id = id
        self.line = line
        handler = line["delivery"]?["handler"]?.string ?? ""
        deadline = min(Instant(nanoseconds: max(0, line["deadline_ns"]?.int64 ?? 0)), now + Self.longest)
    }

    /// The facts that every format has in headers, with their headers.
    private static let headersOfFacts: [(fact: StaticString, header: StaticString)] = [
        ("op", "Push-Op"), ("callback", "Push-Callback"), ("lane", "Push-Lane"), ("attempt", "Push-Attempt"),
        ("epoch", "Push-Epoch"),
    ]

    /// The header with the rest of the time when the request leaves, in milliseconds; the sender adds it at that
    /// moment.
    public static let budgetHeader = "Push-Deadline-Ms"

    /// The URI of the sender on a host.
    public static func source(ofHost name: String) -> String { "pushrouterd://\(name)" }

    /// Returns the request to post.
    ///
    /// - Parameters:
    ///   - endpoint: the address and the format.
    ///   - source: the URI of the sender.
    public func request(to endpoint: HTTPEndpoint, source: String) -> HTTPRequest {
        line.withView { line in
            let object = Self.object(line)
            let event = CloudEvent(line, from: source)
            var headers = HTTPHeaders()
            let delivery = line.member("delivery")
            for (fact, header) in Self.headersOfFacts {
                delivery?.member(fact)?.withScalar { headers.append(header, escaping: $0) }
            }
            let body: [UInt8]
            switch endpoint.format {
            case .plain:
                headers.append("Content-Type: application/json")
                body = object
            case .cloudEvents:
                headers.append("Content-Type: application/json")
                event.attributes { headers.append(attribute: $0, $1) }
                body = object
            case .structuredCloudEvents:
                headers.append("Content-Type: application/cloudevents+json; charset=utf-8")
                body = event.structured(data: object)
            }
            for header in endpoint.headers { headers.append(header) }
            return HTTPRequest(id: event.id, headers: headers, body: body)
        }
    }

    /// The object that every kind of handler gets: the line without `id` and `deadline_ns`.
    private static func object(_ line: JSONView) -> [UInt8] {
        var object: [UInt8] = []
        object.reserveCapacity(line.rawBytes.count)
        object.append(UInt8(ascii: "{"))
        for (key, value) in line.members where !key.equals("id") && !key.equals("deadline_ns") {
            if object.count > 1 { object.append(UInt8(ascii: ",")) }
            object.append(contentsOf: key.rawBytes)
            object.append(UInt8(ascii: ":"))
            object.append(contentsOf: value.rawBytes)
        }
        object.append(UInt8(ascii: "}"))
        return object
    }
}

/// A request to post.
public struct HTTPRequest: Hashable, Sendable {
    /// The id of the invocation, equal for all its attempts and unique.
    public let id: String
    /// The headers, except for those of the address and the length.
    public var headers: HTTPHeaders
    /// The body.
    public let body: [UInt8]
}
