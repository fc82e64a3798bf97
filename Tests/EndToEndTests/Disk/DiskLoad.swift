import Glibc
import TestSupport

@testable import LinuxSystem

/// Producers that send pipelined requests over several connections, and record the replies outside of the daemon.
final class DiskLoad {
    /// An acknowledged request and the reply.
    struct Acknowledged {
        var request: DiskRequest
        var reply: String
    }

    private struct Producer {
        var client: Client
        var outstanding: ArraySlice<DiskRequest> = []
    }

    /// The acknowledged requests by id, without those found to be lost.
    var acknowledged: [String: Acknowledged] = [:]
    /// The ids acknowledged since the last check.
    var unchecked: [String] = []
    /// The number of all acknowledgements.
    private(set) var acknowledgements = 0
    /// The requests without a reply: the daemon may have accepted them.
    private(set) var unanswered: [DiskRequest] = []
    /// The number of refused requests by error code.
    private(set) var refusals: [String: Int] = [:]
    /// Replies that no daemon may give.
    private(set) var contradictions: [String] = []

    private var requests: DiskRequests
    private var producers: [Producer] = []

    /// Large enough for commits to share a sync, and small enough not to fill a socket.
    private static let window = 12

    /// - Parameters:
    ///   - name: the prefix of every id; unique in a state directory.
    ///   - seed: the seed of the requests.
    init(_ name: String, seed: UInt64) { requests = DiskRequests(name, seed: seed) }

    /// Whether all connections have ended.
    var isCutOff: Bool { producers.isEmpty }

    /// Connects, and repeats the unanswered requests as producers do.
    func connect(to installation: Installation, producers count: Int = 4) throws(ClientError) {
        producers = []
        for _ in 0..<count { producers.append(Producer(client: try Client(path: installation.injectSocket))) }
        let again = unanswered
        unanswered = []
        for request in again { send(request, from: 0) }
    }

    /// Keeps all connections busy until a condition holds or all have ended.
    ///
    /// - Parameters:
    ///   - size: the size of the payloads in bytes; `nil`: random.
    ///   - holds: the condition; evaluated after every reply.
    func run(size: Int? = nil, until holds: () throws -> Bool) throws {
        while try !isCutOff && !holds() {
            for index in producers.indices.reversed() {
                while index < producers.count, producers[index].outstanding.count < Self.window {
                    send(requests.next(size: size), from: index)
                }
            }
            try receive()
        }
    }

    /// Sends so many requests and waits for the replies; fewer if the connections end.
    func run(count: Int, size: Int? = nil) throws {
        for index in 0..<count where !isCutOff {
            send(requests.next(size: size), from: index % producers.count)
            while producers.contains(where: { $0.outstanding.count >= Self.window }) { try receive() }
        }
        try finish()
    }

    /// Sends one more request without waiting for room or a reply.
    func push() {
        guard !isCutOff else { return }
        send(requests.next(), from: 0)
    }

    /// Waits for the replies to all requests, or for the end of the connections.
    func finish() throws {
        while producers.contains(where: { !$0.outstanding.isEmpty }) { try receive() }
    }

    /// Reads the last replies of a daemon that has ended.
    func receiveLastReplies() throws {
        while !isCutOff { try receive() }
    }

    /// Closes the connections without reading further replies.
    func disconnect() {
        for index in producers.indices.reversed() { end(index) }
    }

    private func send(_ request: DiskRequest, from index: Int) {
        producers[index].outstanding.append(request)
        // A lost connection is detected on receiving.
        try? producers[index].client.send(line: request.line)
    }

    /// Waits for a reply and reads all that have come.
    private func receive() throws {
        let descriptors = producers.map(\.client.descriptor)
        guard waitUntilReadable(descriptors, milliseconds: Int32(patience)) != nil else {
            throw DiskFailure("a daemon that lives answers nothing")
        }
        for index in producers.indices.reversed() {
            while index < producers.count, try receive(at: index) {}
        }
    }

    /// Reads one line; returns false if none has come.
    private func receive(at index: Int) throws -> Bool {
        let bytes: [UInt8]?
        do throws(ClientError) {
            bytes = try producers[index].client.receiveLine(timeoutMilliseconds: 0)
        } catch .timedOut {
            return false
        }
        // A line that a dying daemon did not finish is not a reply.
        guard let bytes, let line = try? Line(bytes) else {
            end(index)
            return false
        }
        note(line, about: producers[index].outstanding.removeFirst())
        return true
    }

    private func end(_ index: Int) { unanswered += producers.remove(at: index).outstanding }

    private func note(_ reply: Line, about request: DiskRequest) {
        guard reply.id == request.id, reply.isAccepted || reply.errorCode != nil else {
            contradictions.append("\(request.id) got \(reply)")
            return
        }
        if let code = reply.errorCode {
            refusals[code, default: 0] += 1
            if !["unavailable", "overloaded"].contains(code) { contradictions.append("\(request.line) got \(reply)") }
        } else {
            acknowledged[request.id] = Acknowledged(request: request, reply: reply.description)
            unchecked.append(request.id)
            acknowledgements += 1
        }
    }
}
