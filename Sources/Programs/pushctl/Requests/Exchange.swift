import DaemonClient
import PushModel

/// Sends requests one after the other without waiting for each reply, and matches the replies, which come in order.
struct Exchange {
    private let connection: DaemonConnection
    private let path: String
    private let output: Output
    private let printsJSON: Bool
    /// Where the requests came from whose replies are to come, and whether outcomes follow.
    private var places = Queue<(name: String, awaitsOutcomes: Bool)>()
    private var batch: [UInt8] = []
    private let waits: Bool
    /// Accepted requests of whose outcomes none has come; each has one at least, but for those that lead to no
    /// invocation.
    private var undecided: Set<Int64> = []
    /// Whether an outcome that is no success counts as a refusal.
    private let failsByOutcome: Bool
    /// How many the daemon refused, as a whole or in part; with ``failsByOutcome`` those too that came to no good end.
    private(set) var refused = 0

    /// Few enough for their replies to fit into the socket many times over.
    private static let outstandingLimit = 256
    private static let batchSize = 32 << 10

    /// Connects to the socket at `path`; takes from the options how replies are printed.
    ///
    /// - Throws: that the options contradict each other, or that nobody listens.
    init(path: String, _ arguments: Arguments, output: Output) throws(Failure) {
        try Self.check(arguments)
        do { connection = try DaemonConnection(path) } catch { throw Failure(error, path) }
        self.path = path
        self.output = output
        printsJSON = arguments.has(.json)
        waits = arguments.has(.wait)
        failsByOutcome = arguments.has(.fail)
    }

    /// Checks what the options say of outcomes.
    static func check(_ arguments: Arguments) throws(Failure) {
        guard arguments.has(.fail), !arguments.has(.wait) else { return }
        throw arguments.usageFailure("--fail needs --wait")
    }

    /// Sends a request, soon.
    ///
    /// - Parameters:
    ///   - line: without its line feed.
    ///   - place: where it came from, for messages.
    mutating func send(_ line: [UInt8], from place: String) throws(Failure) {
        while places.count >= Self.outstandingLimit {
            try sendBatch()
            try receive()
        }
        let operation = waits ? (try? JSONDocument(scanning: line))?.root["op"]?.string : nil
        let hasOutcomes = operation.flatMap(Operation.init(rawValue:))?.hasInvocations ?? true
        places.append((place, waits && hasOutcomes))
        batch += line
        batch.append(UInt8(ascii: "\n"))
        if batch.count >= Self.batchSize { try sendBatch() }
    }

    /// Sends what is left, and prints every reply to it.
    mutating func settle() throws(Failure) {
        try sendBatch()
        while !places.isEmpty { try receive() }
        output.flush()
    }

    /// Sends what is left, and prints all that is still to come: every reply, and with `wait` every outcome.
    mutating func finish() throws(Failure) {
        try sendBatch()
        connection.finishSending()
        output.flush()
        while let line = try receiveLine() {
            take(line)
            output.flush()
        }
        guard places.isEmpty else { throw incomplete }
        guard undecided.isEmpty else {
            throw Failure(
                .unavailable,
                "the daemon closed the connection before the outcomes of \(Text.count(undecided.count, "request")) were "
                    + "known; \"pushctl show SEQ\" shows them later")
        }
    }

    private mutating func sendBatch() throws(Failure) {
        guard !batch.isEmpty else { return }
        // Outcomes come at any time, and must not fill the way back.
        while try mustReceive() { try receive() }
        do throws(DaemonError) {
            try connection.send(batch)
        } catch {
            // Why it closed the connection stands in the last replies: that a line is too long, for one.
            while let line = try receiveLine() { take(line) }
            throw places.isEmpty ? Failure(error, path) : incomplete
        }
        batch.removeAll(keepingCapacity: true)
    }

    private mutating func receive() throws(Failure) {
        output.flush()
        guard let line = try receiveLine() else { throw incomplete }
        take(line)
    }

    private func receiveLine() throws(Failure) -> [UInt8]? {
        do { return try connection.receiveLine() } catch { throw Failure(error, path) }
    }

    private func mustReceive() throws(Failure) -> Bool {
        do { return try connection.mustReceive() } catch { throw Failure(error, path) }
    }

    private var incomplete: Failure {
        Failure(
            .unavailable,
            "the daemon closed the connection; \(Text.count(places.count, "request")) got no reply "
                + "and may have been accepted or not")
    }

    private mutating func take(_ line: [UInt8]) {
        let reply = (try? JSONDocument(scanning: line))?.root
        let isReply = reply?["outcome"] == nil
        let place = isReply ? places.popFirst() : nil
        if reply?["ok"]?.bool == false || reply?["rejected"] != nil { refused += 1 }
        if failsByOutcome, let reply, reply.isBadEnd { refused += 1 }
        if let seq = reply?["seq"]?.int64 {
            if place?.awaitsOutcomes == true { undecided.insert(seq) }
            // A copy for an observer says nothing of the owner.
            if !isReply, reply?["observer"]?.bool != true { undecided.remove(seq) }
        }
        if printsJSON {
            output.write(line: line)
        } else if let reply {
            isReply ? print(reply, from: place?.name ?? "the connection") : printOutcome(reply)
        }
    }

    private func print(_ reply: JSONNode, from place: String) {
        if reply["ok"]?.bool == true {
            output.print("accepted  seq \(reply["seq"]?.int64 ?? 0)  (\(place))\n")
            for part in reply["rejected"]?.elements ?? [] {
                let field = part["field"]?.string.map { $0.isEmpty ? "" : "\($0): " } ?? ""
                let number = part["entry"]?.int64 ?? 0
                output.note(
                    "\(place): custom data rejected, entry \(number): \(field)\(part["message"]?.string ?? "")")
            }
            return
        }
        output.note("\(place): refused: \(reply.refusal)")
    }

    private func printOutcome(_ line: JSONNode) {
        let reason = line["reason"]?.string.map { "  \($0)" } ?? ""
        let role = line["observer"]?.bool == true ? "  observer" : ""
        output.print(
            "seq \(line["seq"]?.int64 ?? 0)  \(line["callback"]?.string ?? "")\(role)  "
                + "\(line["outcome"]?.string ?? "")  \(line["total_ms"]?.int64 ?? 0) ms\(reason)\n")
    }
}

extension JSONNode {
    /// Whether it is the outcome of an owner's invocation that is no success.
    fileprivate var isBadEnd: Bool {
        guard let outcome = self["outcome"]?.string.flatMap(Outcome.init(rawValue:)) else { return false }
        return outcome != .handled && outcome != .handedToTracker && self["observer"]?.bool != true
    }

    /// Why the daemon refused a request, of its reply.
    var refusal: String {
        let error = self["error"]
        let field = error?["field"]?.string.map { "\($0): " } ?? ""
        return "\(field)\(error?["message"]?.string ?? "") (\(error?["code"]?.string ?? "no reason given"))"
    }
}
