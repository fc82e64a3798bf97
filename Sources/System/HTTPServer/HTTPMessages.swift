/// One complete request.
public struct HTTPRequest: Sendable, Equatable {
    /// The method, unchanged: `GET`.
    public var method: String
    /// The path, percent escapes decoded, without the query: `/metrics`.
    public var path: String
    /// The headers by their names in lower case; repeated ones are joined by commas.
    public var headers: [String: String]
    /// The body; empty if there is none.
    public var body: [UInt8]

    /// Joins the parts.
    init(method: String, path: String, headers: [String: String] = [:], body: [UInt8] = []) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
    }
}

/// A response. The server adds `Date`, `Content-Length` and `Connection`, and omits the body for `HEAD`.
public struct HTTPResponse: Sendable {
    /// The status: 200.
    public var status: Int
    /// The headers except those that the server adds.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: [UInt8]

    /// Joins the parts.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Makes a response with a text for people or programs.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - text: the body.
    ///   - type: its `Content-Type`.
    ///   - headers: further headers.
    public init(
        status: Int, text: String, type: String = "text/plain; charset=utf-8",
        headers: [(name: String, value: String)] = []
    ) {
        self.init(status: status, headers: [("Content-Type", type)] + headers, body: Array(text.utf8))
    }
}
