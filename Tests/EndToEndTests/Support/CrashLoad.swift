import Glibc
import TestSupport

@testable import LinuxSystem
@testable import PushModel

/// Several clients that send requests of all kinds, and a record, outside of the daemon, of every answer.
final class CrashLoad {
    /// The kind of request.
    enum Kind: String, CaseIterable {
        case braze, journal
        /// A delivery with two callbacks.
        case double
        /// A delivery to an idempotent handler, and to another one.
        case repeatable, once
    }

    /// A request that was sent.
    struct Sent {
        var line: String
        var kind: Kind
        var id: String?
    }

    /// The acknowledged requests by number.
    private(set) var acknowledged: [Int64: Sent] = [:]
    /// The outcomes that clients received.
    private(set) var outcomes: [InvocationID: String] = [:]
    /// The requests with an id and without an answer: the daemon may have accepted them.
    private(set) var unanswered: [Sent] = []
    /// Answers that contradict each other.
    private(set) var contradictions: [String] = []

    private var numbers: [String: Int64] = [:]
    /// The acknowledged requests with an id, once for each acknowledgement.
    private var answered: [Sent] = []
    private var clients: [(socket: Client, outstanding: [Sent])] = []
    private var generator: SeededGenerator
    private let name: String
    private var sent = 0

    /// Large enough to keep commits, handlers and replies overlapping, and small enough not to fill a socket.
    private static let window = 16

    /// - Parameters:
    ///   - name: the prefix of every id; unique in its installation.
    ///   - seed: the seed of the requests.
    init(_ name: String, seed: UInt64) {
        self.name = name
        generator = SeededGenerator(seed: seed)
    }

    /// Adds the two jobs to an installation; they record each of their runs in the file `runs`.
    static func addJobs(to installation: Installation) {
        let script = "echo $PUSH_SEQ:$PUSH_N >>$ROOT/runs; sleep 0.0$((PUSH_SEQ % 4))"
        installation.addJob(Kind.repeatable.rawValue, script, handler: "Idempotent=yes")
        installation.addJob(Kind.once.rawValue, script)
    }

    /// Sends from this many clients until so many requests are acknowledged.
    func run(on installation: Installation, clients count: Int, until acknowledgements: Int) throws {
        clients = try (0..<count).map { _ in (try installation.injectClient(), []) }
        while acknowledged.count < acknowledgements {
            for index in clients.indices {
                while clients[index].outstanding.count < Self.window { try send(from: index) }
            }
            _ = waitUntilReadable(clients.map(\.socket.descriptor), milliseconds: Int32(patience))
            for index in clients.indices { while try receive(at: index, milliseconds: 0) {} }
        }
    }

    /// Reads what the daemon sent before it died.
    func receiveLastReplies() throws {
        for index in clients.indices {
            while try receive(at: index, milliseconds: patience) {}
            unanswered += clients[index].outstanding.filter { $0.id != nil }
        }
        clients = []
    }

    /// Repeats all requests with an id, answered or not, and checks the answers against the earlier ones.
    func repeatAll(on installation: Installation) throws {
        clients = [(try installation.injectClient(), [])]
        let again = unanswered + answered
        unanswered = []
        for request in again {
            try clients[0].socket.send(line: request.line)
            clients[0].outstanding.append(request)
            if clients[0].outstanding.count == Self.window { _ = try receive(at: 0, milliseconds: patience) }
        }
        while !clients[0].outstanding.isEmpty { _ = try receive(at: 0, milliseconds: patience) }
        clients = []
    }

    private func send(from index: Int) throws {
        let request = next()
        clients[index].outstanding.append(request)
        try clients[index].socket.send(line: request.line)
    }

    private func next() -> Sent {
        // Occasionally repeats an acknowledged request.
        if Int.random(in: 0..<10, using: &generator) == 0, let old = answered.randomElement(using: &generator) {
            return old
        }
        sent += 1
        let kind = Kind.allCases.randomElement(using: &generator) ?? .journal
        let id = Int.random(in: 0..<5, using: &generator) < 2 ? "\(name)-\(sent)" : nil
        let device = Bool.random(using: &generator) ? "device\(Int.random(in: 0..<5, using: &generator))" : nil
        let waits = Bool.random(using: &generator)
        let line =
            switch kind {
            case .braze: Requests.braze(message: "\(name)-\(sent)", id: id, device: device, waits: waits)
            case .double: Requests.deliver(Requests.twoCallbacks, id: id, device: device, waits: waits)
            case .journal, .repeatable, .once:
                Requests.deliver(job: kind.rawValue, id: id, device: device, waits: waits)
            }
        return Sent(line: line, kind: kind, id: id)
    }

    /// Reads one line; returns false if there is none.
    private func receive(at index: Int, milliseconds: Int) throws -> Bool {
        let bytes: [UInt8]?
        do throws(ClientError) {
            bytes = try clients[index].socket.receiveLine(timeoutMilliseconds: milliseconds)
        } catch .timedOut where milliseconds == 0 {
            return false
        }
        guard let bytes else { return false }
        // A line that a dying daemon did not finish is not an answer.
        guard let line = try? Line(bytes) else { return true }
        if line.isReply { note(reply: line, to: clients[index].outstanding.removeFirst()) } else { note(outcome: line) }
        return true
    }

    private func note(reply: Line, to request: Sent) {
        guard let seq = reply.seq, reply.id == request.id else {
            contradictions.append("\(request.line) got \(reply)")
            return
        }
        let before = request.id.flatMap { numbers.updateValue(seq, forKey: $0) } ?? seq
        if before != seq { contradictions.append("\(request.line) was seq \(before) and is seq \(seq)") }
        if request.id == nil, acknowledged[seq] != nil { contradictions.append("seq \(seq) was given twice") }
        acknowledged[seq] = request
        if request.id != nil { answered.append(request) }
    }

    private func note(outcome line: Line) {
        guard let seq = line.seq, let n = line.n, let outcome = line.outcome else {
            contradictions.append("an outcome line that is none: \(line)")
            return
        }
        let invocation = InvocationID(seq: SequenceNumber(seq), n: Int(n))
        let before = outcomes.updateValue(outcome, forKey: invocation) ?? outcome
        if before != outcome { contradictions.append("\(line) was \(before) before") }
    }
}
