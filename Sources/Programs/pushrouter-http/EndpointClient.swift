import EventLoop
import Glibc
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
        var destination = try destination(for: invocation)
        let request = invocation.request(
            to: configured.endpoint, source: source, keys: try secret(keys), at: Moment.now().wall)
        destination.headers = request.headers + [Self.userAgent]
        do throws(HTTPClientError) {
            let id = try sender.post(request.body, to: destination) { [unowned self] result in
                note(result)
                let reply = HTTPReply(result)
                answer(
                    reply.line(answering: invocation.id, isIdempotent: configured.isIdempotent, at: Moment.now().wall))
            }
            return { [sender] in sender.cancel(id) }
        } catch {
            throw PostFailure(description: error.description)
        }
    }

    private func destination(for invocation: HTTPInvocation) throws(PostFailure) -> HTTPDestination {
        let endpoint = configured.endpoint
        var destination = HTTPDestination(
            url: endpoint.url, headers: [], bearer: try secret(token),
            timeoutMilliseconds: Int(invocation.remaining.milliseconds + Self.lag),
            wantedHeaders: HTTPReply.wantedHeaders)
        destination.connectTimeoutMilliseconds = Int(endpoint.connectTimeout.milliseconds)
        destination.authorityFile = endpoint.authorityFile
        destination.longestAnswer = HTTPReply.longestBody
        destination.http2 =
            switch endpoint.http2 {
            case .auto: .overTLS
            case .no: .never
            }
        return destination
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
