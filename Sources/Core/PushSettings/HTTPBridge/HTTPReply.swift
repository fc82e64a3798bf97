public import PushModel
public import PushRouter

/// The result of a request of an `http` handler.
public enum HTTPReply: Hashable, Sendable {
    /// The server answered.
    ///
    /// - Parameters:
    ///   - status: the status code.
    ///   - headers: the headers among ``HTTPReply/wantedHeaders``, by their names in lower case.
    ///   - body: the body, or the beginning of an incomplete one.
    ///   - isWhole: whether the body is complete.
    case answer(status: Int, headers: [String: String], body: [UInt8], isWhole: Bool)
    /// No answer came.
    ///
    /// - Parameters:
    ///   - wasSent: whether the server may have got the request.
    ///   - reason: the reason, for people.
    case failure(wasSent: Bool, reason: String)

    /// The headers that decide the meaning of an answer.
    public static let wantedHeaders: Set<String> = ["push-declined", "retry-after"]

    /// The limit of a body, in bytes: the daemon must be able to read the line that is made of it.
    public static let longestBody = 64 << 10

    /// Returns the line by which `pushrouter-http` answers.
    ///
    /// - Parameters:
    ///   - id: the id of the line to answer.
    ///   - isIdempotent: whether a repetition is harmless.
    ///   - now: the time, for a `Retry-After` with a date.
    public func line(answering id: Int64, isIdempotent: Bool, at now: WallTime) -> [UInt8] {
        switch self {
        case .answer(let status, _, let body, let isWhole) where 200...299 ~= status:
            return Self.line(id, .handled) {
                guard isWhole else { return $0.member("reason", Self.notRead) }
                Self.copy(body, to: &$0)
            }
        case .answer(404, let headers, _, _) where headers["push-declined"] == "1":
            return Self.line(id, .declined) { $0.member("http_status", 404) }
        case .answer(let status, let headers, let body, _)
        where [408, 425, 429].contains(status) || 500...599 ~= status:
            let delay = headers["retry-after"].flatMap { Self.delay($0, at: now) }
            return Self.line(id, .retry) {
                if let delay { $0.member("retry_after_ms", delay) }
                $0.member("http_status", status)
                $0.member("reason", Self.text(status, body))
            }
        case .answer(let status, _, _, _) where 300...399 ~= status:
            return Self.rejection(
                of: id, "HTTP status \(status): pushrouter-http follows no redirect; set URL= to the final address",
                status: status)
        case .answer(let status, _, let body, _):
            return Self.rejection(of: id, Self.text(status, body), status: status)
        case .failure(let wasSent, let reason):
            guard wasSent, !isIdempotent else {
                return Self.line(id, .retry) { $0.member("reason", reason) }
            }
            return Self.rejection(
                of: id, "\(reason); the server may have got the request, so it is not repeated (Idempotent=)")
        }
    }

    /// Returns the line for an invocation that was not posted, or whose post failed for good.
    ///
    /// - Parameter status: the status of the answer; `nil` if there is none.
    public static func rejection(of id: Int64, _ reason: String, status: Int? = nil) -> [UInt8] {
        line(id, .rejected) {
            if let status { $0.member("http_status", status) }
            $0.member("reason", reason)
        }
    }

    /// The failure in the server's words: its status, and an excerpt of its body.
    private static func text(_ status: Int, _ body: [UInt8]) -> String {
        "HTTP status \(status)" + (excerpt(of: body).map { ": \($0)" } ?? "")
    }

    /// The reason for an incomplete body, whose missing part may have contained the answer.
    private static let notRead =
        "the answer cannot be read: the body is incomplete or longer than \(longestBody >> 10) KiB"

    private static func line(
        _ id: Int64, _ status: HandlerAnswer.Status, _ more: (inout JSONWriter) -> Void = { _ in }
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", id)
            writer.member("status", status.rawValue)
            more(&writer)
        }
        return writer.line()
    }

    /// Copies `result`, `options` and `log` of the body. Ignores a body that is no JSON object: it is no answer to us.
    private static func copy(_ body: [UInt8], to writer: inout JSONWriter) {
        guard !body.isEmpty, let root = try? JSONDocument(scanning: body).root, root.kind == .object else { return }
        for key in ["result", "options", "log"] {
            guard let value = root[key] else { continue }
            // A line feed is white space between the tokens, and never occurs in a string.
            writer.member(key, raw: value.rawBytes.lazy.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
        }
    }

    /// The limit of a delay in milliseconds: a day.
    private static let longestDelay: Int64 = 86_400_000

    /// The delay of `Retry-After` in milliseconds, from seconds or a date (RFC 9110, 10.2.3); `nil` for any other text.
    private static func delay(_ text: String, at now: WallTime) -> Int64? {
        if text.utf8.allSatisfy({ 48...57 ~= $0 }), let seconds = Int64(text.prefix(9)) {
            return min(seconds * 1000, longestDelay)
        }
        guard let date = WallTime(httpDate: text) else { return nil }
        return min(max(0, date.milliseconds - now.milliseconds), longestDelay)
    }
}

extension WallTime {
    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that senders still use (RFC 9110, 5.6.7).
    fileprivate init?(httpDate text: String) {
        let words = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: String(words[2])) else {
            return nil
        }
        self.init(rfc3339: "\(words[3])-\(month < 9 ? "0" : "")\(month + 1)-\(words[1])T\(words[4])Z")
    }
}

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
