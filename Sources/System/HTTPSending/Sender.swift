public import EventLoop
public import HTTPClient

/// The HTTP client on the event loop: it watches sockets and a timer for it.
public final class Sender {
    private final class Watcher {
        let loop: EventLoop
        var sources: [Int32: IOSource] = [:]
        var ready: (Int32, HTTPReadiness) -> Void = { _, _ in }

        init(loop: EventLoop) { self.loop = loop }

        func watch(_ socket: Int32, for wanted: HTTPReadiness) {
            var interest: IOEvents = []
            if wanted.contains(.read) { interest.insert(.read) }
            if wanted.contains(.write) { interest.insert(.write) }
            guard !interest.isEmpty else {
                // It may be closed next, also from within its own handler, which keeps it alive until then.
                sources[socket]?.interest = []
                sources[socket] = nil
                return
            }
            if let source = sources[socket] {
                source.interest = interest
                return
            }
            // Without a source the request runs into its timeout, which says so.
            sources[socket] = try? IOSource(loop: loop, descriptor: socket, interest: interest) { [unowned self] in
                var readiness: HTTPReadiness = []
                if $0.contains(.read) || $0.contains(.hangup) { readiness.insert(.read) }
                if $0.contains(.write) { readiness.insert(.write) }
                if $0.contains(.error) { readiness.insert(.error) }
                ready(socket, readiness)
            }
        }
    }

    private let watcher: Watcher
    private let client: HTTPClient
    private let timer: TimerSource

    /// - Parameters:
    ///   - loop: the loop of the calling thread.
    ///   - connectionsPerHost: how many connections to a host there are at once, at most; `nil`: as many as there are
    ///     requests.
    /// - Throws: when there is no descriptor or memory left.
    public init(loop: EventLoop, connectionsPerHost: Int? = nil) throws {
        let watcher = Watcher(loop: loop)
        var fire: () -> Void = {}
        let timer = try TimerSource(loop: loop) { fire() }
        let client = try HTTPClient(
            connectionsPerHost: connectionsPerHost, watch: { watcher.watch($0, for: $1) },
            setTimer: { milliseconds in
                guard let milliseconds else { return timer.disarm() }
                timer.arm(at: EventLoop.nowNanoseconds + Int64(milliseconds) * 1_000_000)
            })
        fire = { [unowned client] in client.timerFired() }
        watcher.ready = { [unowned client] in client.ready($0, for: $1) }
        self.watcher = watcher
        self.client = client
        self.timer = timer
    }

    /// Posts a body.
    ///
    /// - Parameter completion: called once with what came of it, never from within this call.
    /// - Returns: what ``cancel(_:)`` takes.
    /// - Throws: when nothing could be sent at all.
    @discardableResult
    public func post(
        _ body: [UInt8], to destination: HTTPDestination, completion: @escaping (HTTPResult) -> Void
    ) throws(HTTPClientError) -> HTTPRequestID {
        try client.post(body, to: destination, completion: completion)
    }

    /// Breaks a request off: its completion is not called.
    public func cancel(_ id: HTTPRequestID) { client.cancel(id) }
}
