import HandlerRuns
import LinuxSystem
import PushModel
import PushRouter
import PushSettings

/// A connection of the daemon: invocations come in as lines, and answers go out as lines.
final class Session {
    /// The most requests of a connection at the same time. A daemon keeps to `MaxConcurrent=`, which is less.
    private static let requestsMax = 16_384
    /// The longest line: the longest request that the daemon takes, the delivery that it refers to, and the daemon's
    /// additions.
    private static let maximumLineLength = 33 << 20

    private let client: (String) throws(PostFailure) -> EndpointClient
    private let isStopping: () -> Bool
    private let ended: (Session) -> Void
    private var stream: LineStream?
    /// The closures that cancel requests, by the ids of their lines.
    private var underway: [Int64: () -> Void] = [:]

    /// Whether the connection has ended.
    var isClosed: Bool { stream == nil }
    /// Whether a request has no answer yet.
    var isBusy: Bool { !underway.isEmpty }

    /// - Parameters:
    ///   - connection: the connection to the daemon.
    ///   - buffer: scratch memory of the loop's thread.
    ///   - loop: the event loop.
    ///   - client: finds the client of a handler.
    ///   - isStopping: whether nothing new is posted, because the program ends.
    ///   - ended: called when the connection has ended, or when the last request has its answer.
    init(
        _ connection: Connection, buffer: ReadBuffer, loop: EventLoop,
        client: @escaping (String) throws(PostFailure) -> EndpointClient, isStopping: @escaping () -> Bool,
        ended: @escaping (Session) -> Void
    ) throws(SystemError) {
        self.client = client
        self.isStopping = isStopping
        self.ended = ended
        stream = try LineStream(
            connection, buffer: buffer, loop: loop, maximumLineLength: Self.maximumLineLength
        ) { [unowned self] in
            switch $0 {
            case .line(let line): take(line)
            case .end, .fault: close()
            }
        }
        // The daemon sends nothing before it gets this line: it proves that a process reads the connection.
        stream?.send([UInt8(ascii: "\n")])
    }

    /// Cancels all requests, and closes the connection.
    func close() {
        stream?.close()
        stream = nil
        let underway = exchange(&underway, with: [:])
        for cancel in underway.values { cancel() }
        ended(self)
    }

    private func take(_ line: [UInt8]) {
        guard !line.isEmpty else { return }
        do throws(LineFault) {
            switch try HTTPLine(line, at: Moment.now().monotonic) {
            case .cancel(let id):
                // A request that is not under way has its answer already, and the daemon will read that.
                guard let cancel = underway.removeValue(forKey: id) else { return }
                cancel()
                stream?.send(HTTPReply.rejection(of: id, "the request was aborted at its deadline"))
                ended(self)
            case .post(let invocation): post(invocation)
            }
        } catch {
            // No daemon writes such a line, so the other end is none.
            close()
        }
    }

    private func post(_ invocation: HTTPInvocation) {
        guard !isStopping() else {
            let reply = HTTPReply.failure(wasSent: false, reason: "pushrouter-http is stopping")
            stream?.send(reply.line(answering: invocation.id, isIdempotent: true, at: Moment.now().wall))
            return
        }
        do throws(PostFailure) {
            guard underway.count < Self.requestsMax, underway[invocation.id] == nil else {
                throw PostFailure(description: "there are too many requests at once")
            }
            underway[invocation.id] = try client(invocation.handler).post(invocation) { [unowned self] answer in
                underway[invocation.id] = nil
                stream?.send(answer)
                ended(self)
            }
        } catch {
            stream?.send(HTTPReply.rejection(of: invocation.id, error.description))
        }
    }
}
