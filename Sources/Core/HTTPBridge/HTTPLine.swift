public import PushModel
public import PushRouting

/// One line that `pushrouter-http` gets: an invocation to post, or one that nobody waits for any more.
public enum HTTPLine: Sendable {
    /// Post it, and answer with its id.
    case post(HTTPInvocation)
    /// The invocation of this id missed its deadline: break it off, and answer it, so that the line is free again.
    case cancel(id: Int64)

    /// Reads a line.
    ///
    /// - Parameters:
    ///   - line: without its line feed.
    ///   - now: when it was read.
    /// - Throws: why it can be neither posted nor answered.
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

/// An invocation, as its line tells it.
public struct HTTPInvocation: Sendable {
    /// What the answer must repeat.
    public let id: Int64
    /// The name of the handler.
    public let handler: String
    /// When its time is up.
    public let deadline: Instant
    private let line: JSONNode

    /// No deadline is longer, whatever a line says.
    private static let longest = Duration.seconds(24 * 3600)

    init(id: Int64, _ line: JSONNode, at now: Instant) {
        self.id = id
        self.line = line
        handler = line["delivery"]?["handler"]?.string ?? ""
        deadline = min(Instant(nanoseconds: max(0, line["deadline_ns"]?.int64 ?? 0)), now + Self.longest)
    }

    /// The facts that every format has in headers, and their headers.
    private static let toldInHeaders: [(fact: StaticString, header: StaticString)] = [
        ("op", "Push-Op"), ("callback", "Push-Callback"), ("lane", "Push-Lane"), ("attempt", "Push-Attempt"),
        ("epoch", "Push-Epoch"),
    ]

    /// The header that tells what is left of the time when the request leaves, in milliseconds. Who sends it adds it then.
    public static let budgetHeader = "Push-Deadline-Ms"

    /// Who posts from a host, a URI.
    public static func source(ofHost name: String) -> String { "pushrouterd://\(name)" }

    /// What is posted for it.
    ///
    /// - Parameters:
    ///   - endpoint: where to, and how.
    ///   - source: who posts it, a URI.
    public func request(to endpoint: HTTPEndpoint, source: String) -> HTTPRequest {
        line.withView { line in
            let object = Self.object(line)
            let event = CloudEvent(line, from: source)
            var headers = HTTPHeaders()
            let delivery = line.member("delivery")
            for (fact, header) in Self.toldInHeaders {
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

    /// The object that every kind of handler gets: the line without its id and its deadline for us.
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

/// What is posted.
public struct HTTPRequest: Hashable, Sendable {
    /// The same for every attempt of its invocation, and for no other.
    public let id: String
    /// Its headers, but those that say where it goes and how long it is.
    public var headers: HTTPHeaders
    /// The body.
    public let body: [UInt8]
}
