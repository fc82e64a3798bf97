import Glibc
import HTTPClient
import LinuxSystem
import PushModel
import PushRouter
import PushSettings

/// Posts the invocations of one handler: has its connections and secrets, and logs outages.
final class EndpointClient {
    /// The handler's configuration.
    let configured: ConfiguredEndpoint

    private let name: String
    private let source: String
    /// The same endpoint, with the headers of all requests.
    private let endpoint: HTTPEndpoint
    /// The parts of the destination that all requests share.
    private let destination: HTTPDestination
    private let sender: Sender
    private let keys: WatchedSecret<SigningKeys>?
    private let token: WatchedSecret<Secret>?
    private let log: (JournalEntry) -> Void
    /// Whether the last request reached the server.
    private var isReachable = true

    /// How much longer than its deadline a request runs here before it is cancelled, in milliseconds: the daemon must
    /// be the first to note that the time is over, because its outcome counts.
    private static let lag: Int64 = 500

    private static let userAgent = "User-Agent: pushrouter-http/\(pushrouterdVersion)"

    /// - Parameters:
    ///   - configured: the handler's configuration.
    ///   - name: the name of the handler.
    ///   - source: the URI of this machine as the sender.
    ///   - credentials: the directory of credentials.
    ///   - loop: the event loop.
    ///   - log: logs the events that an operator must know.
    init(
        _ configured: ConfiguredEndpoint, name: String, source: String, credentials: String?, loop: EventLoop,
        log: @escaping (JournalEntry) -> Void
    ) throws {
        self.configured = configured
        self.name = name
        self.source = source
        self.log = log
        var endpoint = configured.endpoint
        endpoint.headers.append(Self.userAgent)
        self.endpoint = endpoint
        destination = HTTPDestination(of: endpoint)
        sender = try Sender(loop: loop, connectionsPerHost: configured.endpoint.connections)
        keys = configured.endpoint.secretFile.map {
            WatchedSecret($0, what: "the signing secret", credentials: credentials, parse: SecretProblem.keys)
        }
        token = configured.endpoint.bearerFile.map {
            WatchedSecret($0, what: "the bearer token", credentials: credentials, parse: SecretProblem.token)
        }
    }

    /// Posts an invocation.
    ///
    /// - Parameters:
    ///   - invocation: the invocation from its line.
    ///   - answer: gets the answering line, once, never within this call; never after a cancellation.
    /// - Returns: a closure that cancels the request.
    /// - Throws: `PostFailure` if the request cannot be sent.
    func post(
        _ invocation: HTTPInvocation, answer: @escaping ([UInt8]) -> Void
    ) throws(PostFailure) -> () -> Void {
        let now = Moment.now()
        var request = invocation.request(to: endpoint, source: source)
        if let keys = try secret(keys) { request.sign(by: keys, at: now.wall) }
        var destination = destination
        destination.headerLines = request.headers.bytes
        destination.bearer = try secret(token)
        destination.budget = HTTPBudget(
            header: HTTPInvocation.budgetHeader, deadlineNanoseconds: invocation.deadline.nanoseconds)
        let remaining = max(.zero, invocation.deadline - now.monotonic)
        destination.timeoutMilliseconds = Int(remaining.milliseconds + Self.lag)
        do throws(HTTPClientError) {
            let id = try sender.post(request.body, to: destination) { [unowned self] result in
                // After the deadline the failure may have come from this program's own cancellation, and nobody reads
                // the answer.
                if Moment.now().monotonic < invocation.deadline { note(result) }
                let reply = HTTPReply(result)
                answer(
                    reply.line(answering: invocation.id, isIdempotent: configured.isIdempotent, at: Moment.now().wall))
            }
            return { [sender] in sender.cancel(id) }
        } catch {
            throw PostFailure(description: error.description)
        }
    }

    private func secret<Value>(_ secret: WatchedSecret<Value>?) throws(PostFailure) -> Value? {
        guard let secret else { return nil }
        let value = secret.current { log(JournalEntry(.error, "\(name): \($0)", fields: [.init(.handler, name)])) }
        guard let value else {
            throw PostFailure(description: "nothing was sent: \(secret.problem ?? "there is no secret")")
        }
        return value
    }

    /// Logs when the server cannot be reached, and when it can be again: one entry each.
    private func note(_ result: HTTPResult) {
        switch result {
        case .answer:
            guard !isReachable else { return }
            isReachable = true
            log(JournalEntry(.notice, "\(name): the server answers again", fields: [.init(.handler, name)]))
        case .failure(_, let reason):
            guard isReachable else { return }
            isReachable = false
            log(JournalEntry(.warning, "\(name): no answer: \(reason)", fields: [.init(.handler, name)]))
        case .expired: preconditionFailure("this program's requests have no expiry")
        }
    }
}

/// The reason why an invocation cannot be posted.
struct PostFailure: Error {
    /// For people.
    let description: String
}

extension HTTPDestination {
    /// The destination of all requests to an endpoint; each request sets its timeout and token.
    fileprivate init(of endpoint: HTTPEndpoint) {
        self.init(
            url: endpoint.url, headers: [], bearer: nil, timeoutMilliseconds: 0, wantedHeaders: HTTPReply.wantedHeaders)
        connectTimeoutMilliseconds = Int(endpoint.connectTimeout.milliseconds)
        authorityFile = endpoint.authorityFile
        longestAnswer = HTTPReply.longestBody
        http2 =
            switch endpoint.http2 {
            case .auto: .overTLS
            case .no: .never
            }
    }
}

extension HTTPReply {
    fileprivate init(_ result: HTTPResult) {
        switch result {
        case .failure(let wasSent, let reason): self = .failure(wasSent: wasSent, reason: reason)
        case .expired: preconditionFailure("this program's requests have no expiry")
        case .answer(let answer):
            self = .answer(
                status: answer.status, headers: answer.headers, body: answer.body, isWhole: answer.damage == nil)
        }
    }
}
