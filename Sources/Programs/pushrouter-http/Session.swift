import EventLoop
import HTTPBridge
import HandlerRuns
import LinuxSystem
import PushModel
import PushRouting
import UnixSockets

/// One connection of the daemon: invocations come in by lines, answers go out.
final class Session {
    /// How many requests of a connection there are at once, at most. A daemon keeps to `MaxConcurrent=`, which is less.
    private static let requestsMax = 16_384
    /// How long a line may be: a request of the longest size that the daemon takes, the delivery that it is about, and what
    /// the daemon adds.
    private static let maximumLineLength = 33 << 20

    private let client: (String) throws(PostFailure) -> EndpointClient
    private let isStopping: () -> Bool
    private let ended: (Session) -> Void
    private var stream: LineStream?
    /// What breaks requests off, by the ids of their lines.
    private var underway: [Int64: () -> Void] = [:]

    /// Whether the connection is at its end.
    var isClosed: Bool { stream == nil }
    /// Whether an answer is owed.
    var isBusy: Bool { !underway.isEmpty }

    /// - Parameters:
    ///   - connection: to the daemon.
    ///   - buffer: scratch memory of the loop's thread.
    ///   - loop: the loop.
    ///   - client: finds who posts for a handler.
    ///   - isStopping: whether nothing new is posted, because the program is to end.
    ///   - ended: the daemon has closed the connection, or an answer was given and none is owed.
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
        // The daemon sends nothing before this: nobody may be there to read it.
        stream?.send([UInt8(ascii: "\n")])
    }

    /// Breaks off everything, and lets go of the connection.
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
                // What is not under way was answered already: the daemon will read that, and needs no other answer.
                guard let cancel = underway.removeValue(forKey: id) else { return }
                cancel()
                stream?.send(HTTPReply.rejection(of: id, "it was broken off at its deadline"))
                ended(self)
            case .post(let invocation): post(invocation)
            }
        } catch {
            // Nobody writes such lines but who is no daemon.
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
