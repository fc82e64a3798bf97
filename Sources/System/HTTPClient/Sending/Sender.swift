public import LinuxSystem

/// The HTTP client on an event loop, which watches its sockets and its timer.
public final class Sender {
    private final class Watcher {
        let group: IOGroup
        var members: [Int32: IOMember] = [:]
        var ready: (Int32, HTTPReadiness) -> Void = { _, _ in }

        init(loop: EventLoop) throws { group = try IOGroup(loop: loop) }

        func watch(_ socket: HTTPSocket, for wanted: HTTPReadiness?) {
            guard let wanted else {
                // leave(): in a call of its own handler the member stays alive.
                members.removeValue(forKey: socket.number)?.leave()
                return
            }
            var interest: IOEvents = []
            if wanted.contains(.read) { interest.insert(.read) }
            if wanted.contains(.write) { interest.insert(.write) }
            if let member = members[socket.number] {
                member.interest = interest
            } else if !interest.isEmpty {
                // Without a member the request fails by its timeout, with that message.
                members[socket.number] = try? member(socket, for: interest)
            }
        }

        private func member(_ socket: HTTPSocket, for interest: IOEvents) throws -> IOMember {
            let number = socket.number
            // Unowned: this object owns the group and its members, which make no calls after its release.
            return try IOMember(of: group, descriptor: socket.descriptor, interest: interest) { [unowned self] in
                var readiness: HTTPReadiness = []
                if $0.contains(.read) || $0.contains(.hangup) { readiness.insert(.read) }
                if $0.contains(.write) { readiness.insert(.write) }
                if $0.contains(.error) { readiness.insert(.error) }
                ready(number, readiness)
            }
        }
    }

    /// The one timer of the client. A later time than the armed one needs no system call: the timer then fires once
    /// without effect, and is armed again.
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
    ///   - connectionsPerHost: the largest number of connections to a host; `nil` means no limit.
    /// - Throws: if there is no descriptor or memory left.
    public init(loop: EventLoop, connectionsPerHost: Int? = nil) throws {
        let watcher = try Watcher(loop: loop)
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
    /// - Parameter completion: called once with the result, never during this call.
    /// - Returns: the id for ``cancel(_:)``.
    /// - Throws: if nothing could be sent at all.
    @discardableResult
    public func post(
        _ body: [UInt8], to destination: HTTPDestination, completion: @escaping (HTTPResult) -> Void
    ) throws(HTTPClientError) -> HTTPRequestID {
        try client.post(body, to: destination, completion: completion)
    }

    /// Cancels a request: its completion is not called.
    public func cancel(_ id: HTTPRequestID) { client.cancel(id) }
}
