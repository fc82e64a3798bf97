import Glibc

@testable import HTTPClient

/// A client with its own loop, in place of a program's event loop.
final class Poller {
    private final class WantedEvents {
        /// The open sockets and their watched events, by number.
        var interests: [Int32: HTTPReadiness] = [:]
        var timerDue: Int?
        var closed = 0
    }

    private let wantedEvents: WantedEvents
    private let client: HTTPClient

    init() throws {
        let wantedEvents = WantedEvents()
        self.wantedEvents = wantedEvents
        client = try HTTPClient(
            watch: { socket, interest in
                wantedEvents.interests[socket.number] = interest
                // A missed close would leave the watch on a new socket with the same number.
                if interest == nil { wantedEvents.closed += 1 }
            },
            setTimer: { milliseconds in wantedEvents.timerDue = milliseconds.map { now() + $0 } })
    }

    /// The number of open sockets, and of closed ones.
    var sockets: (open: Int, closed: Int) { (wantedEvents.interests.count, wantedEvents.closed) }

    /// Posts a body and waits for the result.
    func post(_ body: String, to destination: HTTPDestination) throws -> HTTPResult {
        try post([body], to: destination)[0]
    }

    /// Posts bodies at once and waits for all results.
    func post(_ bodies: [String], to destination: HTTPDestination) throws -> [HTTPResult] {
        var results: [HTTPResult?] = bodies.map { _ in nil }
        for (index, body) in bodies.enumerated() {
            try client.post(Array(body.utf8), to: destination) { results[index] = $0 }
        }
        while results.contains(nil) { turn() }
        return results.compactMap(\.self)
    }

    private func turn() {
        var requests = wantedEvents.interests.map { socket, interest in
            var events: Int32 = 0
            if interest.contains(.read) { events |= POLLIN }
            if interest.contains(.write) { events |= POLLOUT }
            return pollfd(fd: socket, events: Int16(events), revents: 0)
        }
        let wait = wantedEvents.timerDue.map { max(0, $0 - now()) } ?? 1000
        poll(&requests, nfds_t(requests.count), Int32(wait))
        for request in requests where request.revents != 0 && wantedEvents.interests[request.fd] != nil {
            var ready: HTTPReadiness = []
            if request.revents & Int16(POLLIN | POLLHUP) != 0 { ready.insert(.read) }
            if request.revents & Int16(POLLOUT) != 0 { ready.insert(.write) }
            if request.revents & Int16(POLLERR) != 0 { ready.insert(.error) }
            client.ready(request.fd, for: ready)
        }
        if let due = wantedEvents.timerDue, due <= now() {
            wantedEvents.timerDue = nil
            client.timerFired()
        }
    }
}

/// The monotonic clock, in milliseconds.
private func now() -> Int { Int(monotonicNanoseconds() / 1_000_000) }

/// The monotonic clock, in nanoseconds.
func monotonicNanoseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

extension HTTPDestination {
    /// The tests' server, or another one.
    static func track(
        _ url: String, secret: String? = nil, timeoutMilliseconds: Int = 30_000
    ) -> HTTPDestination {
        HTTPDestination(
            url: url, headers: ["Content-Type: application/json"],
            bearer: secret.map { secret in
                Secret(capacity: 100) { memory in
                    memory.copyBytes(from: secret.utf8)
                    return secret.utf8.count
                }
            }, timeoutMilliseconds: timeoutMilliseconds, wantedHeaders: ["x-ratelimit-reset"])
    }
}
