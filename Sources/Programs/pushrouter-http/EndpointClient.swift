import EventLoop
import Glibc
import HTTPBridge
import HTTPClient
import HTTPSending
import JournalLog
import PushModel
import PushRouting

/// Posts for one handler: its connections, its secrets, and how it goes.
final class EndpointClient {
    /// What the handler's file says.
    let configured: ConfiguredEndpoint

    private let name: String
    private let source: String
    /// The same, with the headers that every request has.
    private let endpoint: HTTPEndpoint
    /// What all requests have in common.
    private let destination: HTTPDestination
    private let sender: Sender
    private let keys: WatchedSecret<SigningKeys>?
    private let token: WatchedSecret<Secret>?
    private let log: (JournalEntry) -> Void
    /// Whether the last request reached a server.
    private var isReachable = true

    /// A request that outlives its time in the daemon by so many milliseconds is broken off here as well. The daemon is to
    /// say first that time is up: what is said of it decides.
    private static let lag: Int64 = 500

    private static let userAgent = "User-Agent: pushrouter-http/\(pushrouterdVersion)"

    /// - Parameters:
    ///   - configured: what the handler's file says.
    ///   - name: of the handler.
    ///   - source: who posts, a URI.
    ///   - credentials: where credentials are.
    ///   - loop: the loop.
    ///   - log: takes what an operator must know.
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
    ///   - invocation: as its line tells it.
    ///   - answer: takes the line that answers it, once, never from within this call; not when it is broken off.
    /// - Returns: breaks it off.
    /// - Throws: `PostFailure` when it cannot be posted.
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
                // Too late it may be for our reasons, and nobody hears of it.
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

    /// Tells when the server cannot be reached, and when it can again: one entry each.
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
        }
    }
}

/// Why an invocation cannot be posted.
struct PostFailure: Error {
    /// For people.
    let description: String
}

extension HTTPDestination {
    /// Where all requests to an endpoint go. Time and token are those of each.
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
        case .answer(let answer):
            self = .answer(
                status: answer.status, headers: answer.headers, body: answer.body, isWhole: answer.damage == nil)
        }
    }
}
