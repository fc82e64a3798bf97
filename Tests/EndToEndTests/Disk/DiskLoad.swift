import Glibc
import TestSupport
import UnixSockets

/// Producers that send requests over several connections, pipelined, and note outside of the daemon what it said.
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

    /// By id; what is found to be lost goes.
    var acknowledged: [String: Acknowledged] = [:]
    /// The ids of those that were since somebody looked for them last.
    var unchecked: [String] = []
    /// How many were, in all.
    private(set) var acknowledgements = 0
    /// What was sent and not answered: it may have been accepted.
    private(set) var unanswered: [DiskRequest] = []
    /// How many were refused, by the error's code.
    private(set) var refusals: [String: Int] = [:]
    /// Answers that no daemon may give.
    private(set) var contradictions: [String] = []

    private var requests: DiskRequests
    private var producers: [Producer] = []

    /// Enough for commits to share a sync, and little enough for no socket to fill up.
    private static let window = 12

    /// - Parameters:
    ///   - name: begins every id; unique in a state directory.
    ///   - seed: decides what is sent.
    init(_ name: String, seed: UInt64) { requests = DiskRequests(name, seed: seed) }

    /// Whether all connections have ended.
    var isCutOff: Bool { producers.isEmpty }

    /// Connects, and sends what was not answered before, as producers do.
    func connect(to installation: Installation, producers count: Int = 4) throws(ClientError) {
        producers = []
        for _ in 0..<count { producers.append(Producer(client: try Client(path: installation.injectSocket))) }
        let again = unanswered
        unanswered = []
        for request in again { send(request, from: 0) }
    }

    /// Keeps all connections busy until that holds, or all have ended.
    ///
    /// - Parameters:
    ///   - size: of the payloads, in bytes; at random without.
    ///   - holds: asked after every answer.
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

    /// Sends so many requests and waits for the answers; less when the connections end.
    func run(count: Int, size: Int? = nil) throws {
        for index in 0..<count where !isCutOff {
            send(requests.next(size: size), from: index % producers.count)
            while producers.contains(where: { $0.outstanding.count >= Self.window }) { try receive() }
        }
        try finish()
    }

    /// Sends one more request, and does not wait for room or an answer.
    func push() {
        guard !isCutOff else { return }
        send(requests.next(), from: 0)
    }

    /// Waits for the answers to all that was sent, or the end of the connections.
    func finish() throws {
        while producers.contains(where: { !$0.outstanding.isEmpty }) { try receive() }
    }

    /// Takes what a daemon that is gone has said at last.
    func hearOut() throws {
        while !isCutOff { try receive() }
    }

    /// Ends the connections, without hearing what else is said.
    func disconnect() {
        for index in producers.indices.reversed() { end(index) }
    }

    private func send(_ request: DiskRequest, from index: Int) {
        producers[index].outstanding.append(request)
        // That it is gone is found by who receives.
        try? producers[index].client.send(line: request.line)
    }

    /// Waits until somebody said something, and takes it.
    private func receive() throws {
        let descriptors = producers.map(\.client.descriptor)
        guard waitUntilReadable(descriptors, milliseconds: Int32(patience)) != nil else {
            throw DiskFailure("a daemon that lives answers nothing")
        }
        for index in producers.indices.reversed() {
            while index < producers.count, try receive(at: index) {}
        }
    }

    /// Takes one line; false when there is none.
    private func receive(at index: Int) throws -> Bool {
        let bytes: [UInt8]?
        do throws(ClientError) {
            bytes = try producers[index].client.receiveLine(timeoutMilliseconds: 0)
        } catch .timedOut {
            return false
        }
        // What a dying daemon could not finish writing is no answer.
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
