public import PushModel

/// The daemon, as the page asks it: over its sockets. A call waits for the answer, for some seconds at most.
public protocol WebDaemon: AnyObject {
    /// Sends one line to `inject.sock`, and gives the reply.
    func inject(_ line: [UInt8]) throws(WebProblem) -> JSONNode
    /// Asks over `control.sock`; operations that change nothing go over `read.sock`.
    func ask(_ operation: ControlRequest.Operation) throws(WebProblem) -> JSONNode
    /// Whether this user may use `inject.sock`.
    var mayInject: Bool { get }
    /// Whether this user may use `control.sock`.
    var mayControl: Bool { get }
    /// Returns the gateway's `GET /status`; `nil` if the gateway does not answer.
    func gatewayStatus() -> JSONNode?
}

/// Why a request cannot be answered as it was meant.
public struct WebProblem: Error, Hashable {
    /// The status of the answer.
    public var status: Int
    /// One sentence without a full stop.
    public var message: String
    /// The field with the problem; `nil` for the whole request.
    public var field: String?

    /// Joins the parts.
    public init(_ status: Int, _ message: String, field: String? = nil) {
        (self.status, self.message, self.field) = (status, message, field)
    }

    /// Nothing can be read.
    init(_ error: SourceError) { self.init(503, error.description) }

    /// A query is wrong.
    init(_ error: QueryError) { self.init(400, error.description, field: "query") }
}
