public import EventLoop
public import HTTPClient

/// The HTTP client on the event loop: it watches sockets and a timer for it.
public final class Sender {
    /// One socket of the client.
    private final class Socket {
        var source: IOSource?
        /// Whether the client wants to hear of it.
        var isWanted = true
    }

    private final class Watcher {
        let loop: EventLoop
        var sockets: [Int32: Socket] = [:]
        var ready: (Int32, HTTPReadiness) -> Void = { _, _ in }

        init(loop: EventLoop) { self.loop = loop }

        func watch(_ descriptor: Int32, for wanted: HTTPReadiness?) {
            guard let wanted else {
                // It is closed next, also from within its own handler, which keeps it alive until then.
                sockets.removeValue(forKey: descriptor)?.source = nil
                return
            }
            var interest: IOEvents = []
            if wanted.contains(.read) { interest.insert(.read) }
            if wanted.contains(.write) { interest.insert(.write) }
            guard let socket = sockets[descriptor] else { return watch(descriptor, newlyFor: interest) }
            socket.isWanted = !interest.isEmpty
            // The next request over the connection wants the same as the last: to change it twice each time would be two
            // system calls. If something comes in between, it is no more watched.
            if socket.isWanted { socket.source?.interest = interest }
        }

        private func watch(_ descriptor: Int32, newlyFor interest: IOEvents) {
            guard !interest.isEmpty else { return }
            let socket = Socket()
            // Without a source the request runs into its timeout, which says so.
            socket.source = try? IOSource(loop: loop, descriptor: descriptor, interest: interest) {
                [unowned self, unowned socket] in
                guard socket.isWanted else {
                    socket.source?.interest = []
                    return
                }
                var readiness: HTTPReadiness = []
                if $0.contains(.read) || $0.contains(.hangup) { readiness.insert(.read) }
                if $0.contains(.write) { readiness.insert(.write) }
                if $0.contains(.error) { readiness.insert(.error) }
                ready(descriptor, readiness)
            }
            sockets[descriptor] = socket
        }
    }

    /// The one time that the client waits for. A later one than the timer is armed for costs no system call: the timer fires
    /// for nothing then, once.
    private final class Alarm {
        private let loop: EventLoop
        private let fire: () -> Void
        private var timer: TimerSource?
        private var now: DeferSource?
        private var due: Int64?
        private var armedFor: Int64?

        init(loop: EventLoop, fire: @escaping () -> Void) throws {
            self.loop = loop
            self.fire = fire
            timer = try TimerSource(loop: loop) { [unowned self] in
                armedFor = nil
                guard let due else { return }
                guard due <= EventLoop.nowNanoseconds else { return arm(due) }
                self.due = nil
                fire()
            }
            now = try DeferSource(loop: loop) { [unowned self] in
                now?.isEnabled = false
                fire()
            }
        }

        func set(_ milliseconds: Int?) {
            now?.isEnabled = milliseconds == 0
            guard let milliseconds, milliseconds > 0 else { return due = nil }
            let time = EventLoop.nowNanoseconds + Int64(milliseconds) * 1_000_000
            due = time
            if armedFor.map({ time < $0 }) ?? true { arm(time) }
        }

        private func arm(_ time: Int64) {
            armedFor = time
            timer?.arm(at: time)
        }
    }

    private let watcher: Watcher
    private let client: HTTPClient
    private let alarm: Alarm

    /// - Parameters:
    ///   - loop: the loop of the calling thread.
    ///   - connectionsPerHost: how many connections to a host there are at once, at most; `nil`: as many as there are
    ///     requests.
    /// - Throws: when there is no descriptor or memory left.
    public init(loop: EventLoop, connectionsPerHost: Int? = nil) throws {
        let watcher = Watcher(loop: loop)
        var fire: () -> Void = {}
        let alarm = try Alarm(loop: loop) { fire() }
        let client = try HTTPClient(
            connectionsPerHost: connectionsPerHost, watch: { watcher.watch($0, for: $1) }, setTimer: { alarm.set($0) })
        fire = { [unowned client] in client.timerFired() }
        watcher.ready = { [unowned client] in client.ready($0, for: $1) }
        self.watcher = watcher
        self.client = client
        self.alarm = alarm
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
