import DaemonClient
import PushModel
import UnixSockets

/// Sends requests one after the other without waiting for each reply, and matches the replies, which come in order.
struct Exchange {
    private let connection: DaemonConnection
    private let path: String
    private let output: Output
    private let printsJSON: Bool
    /// Where the requests came from of which something is to come.
    private var outstanding = OutstandingRequests<String>()
    private var batch: [UInt8] = []
    /// Whether an outcome that is no success counts as a refusal.
    private let failsByOutcome: Bool
    /// The last number that the daemon had given before any request was sent: one with this number or a lower one is a
    /// repetition. `nil`: not known.
    private let lastBefore: Int64?
    /// How many requests the daemon accepted, and how many it refused as a whole.
    private(set) var accepted = 0
    private(set) var refusedRequests = 0
    /// How many the daemon refused, as a whole or in part; with ``failsByOutcome`` those too that came to no good end.
    private(set) var refused = 0

    /// The machine that leads, where this one follows.
    private var leader: String?

    /// Few enough for their replies to fit into the socket many times over.
    private static let outstandingLimit = 256
    private static let batchSize = 32 << 10
    private let patience: Patience
    private var hasToldOfReplies = false
    private var hasToldOfOutcomes = false
    /// Reads what handlers wrote to standard error in an invocation that ended badly; empty where nobody knows it.
    private let readOutputs: (InvocationID) -> String
    /// For how many more that is read: it is a look into the ledger each.
    private var outputsLeft = 20

    /// How long nobody says anything before this program does, in milliseconds.
    struct Patience {
        /// While a reply is waited for.
        var reply = 10_000
        /// While an outcome is: longer than any deadline.
        var outcome = 15_000
    }

    /// Connects to the socket at `path`; takes from the options how replies are printed.
    ///
    /// - Parameters:
    ///   - lastBefore: the last number that the daemon has given, if repetitions are to be called so.
    ///   - patience: how long it waits before it says so.
    ///   - readOutputs: reads for people what handlers wrote to standard error in an invocation.
    /// - Throws: that the options contradict each other, or that nobody listens.
    init(
        path: String, _ arguments: Arguments, output: Output, lastBefore: Int64? = nil, patience: Patience = Patience(),
        readOutputs: @escaping (InvocationID) -> String = { _ in "" }
    ) throws(Failure) {
        self.patience = patience
        self.readOutputs = readOutputs
        try Self.check(arguments)
        do { connection = try DaemonConnection(path) } catch { throw Failure(error, path) }
        self.path = path
        self.output = output
        self.lastBefore = lastBefore
        printsJSON = arguments.has(.json)
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
        while outstanding.unansweredCount >= Self.outstandingLimit {
            try sendBatch()
            try receive()
        }
        outstanding.append(place)
        batch += line
        batch.append(UInt8(ascii: "\n"))
        if batch.count >= Self.batchSize { try sendBatch() }
    }

    /// Sends what is left, and prints every reply to it.
    mutating func settle() throws(Failure) {
        try sendBatch()
        while outstanding.unansweredCount > 0 { try receive() }
        output.flush()
    }

    /// Sends what is left, and prints all that is still to come: every reply, and with `wait` as many outcomes as the replies
    /// say.
    mutating func finish() throws(Failure) {
        try sendBatch()
        connection.finishSending()
        output.flush()
        while outstanding.unansweredCount + outstanding.undecidedCount > 0, let line = try receiveLine() {
            take(line)
            output.flush()
            try checkLeader()
        }
        guard outstanding.unansweredCount == 0 else { throw incomplete }
        guard outstanding.undecidedCount == 0 else {
            throw Failure(
                .unavailable,
                "the daemon closed the connection before the outcomes of \(counted(outstanding.undecidedCount, "request")) were "
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
            throw outstanding.unansweredCount == 0 ? Failure(error, path) : incomplete
        }
        batch.removeAll(keepingCapacity: true)
    }

    private mutating func receive() throws(Failure) {
        output.flush()
        guard let line = try receiveLine() else { throw incomplete }
        take(line)
        try checkLeader()
    }

    /// Ends what another machine has to be asked: this one would refuse all the rest, too.
    private func checkLeader() throws(Failure) {
        if let leader { throw Failure(asking: "request", of: leader) }
    }

    /// The next line, however long it takes; that no reply comes, and that no outcome does, is told once each.
    private mutating func receiveLine() throws(Failure) -> [UInt8]? {
        while true {
            let limit = limit
            do throws(DaemonError) {
                return try connection.receiveLine(timeoutMilliseconds: limit)
            } catch {
                guard let limit, case .socket(.timedOut) = error else { throw Failure(error, path) }
                tellOfSilence(limit / 1000)
            }
        }
    }

    /// How long to wait before that is told, in milliseconds; `nil`: there is nothing to tell.
    private var limit: Int? {
        if outstanding.unansweredCount > 0 { return hasToldOfReplies ? nil : patience.reply }
        return outstanding.undecidedCount == 0 || hasToldOfOutcomes ? nil : patience.outcome
    }

    private mutating func tellOfSilence(_ seconds: Int) {
        guard outstanding.unansweredCount == 0 else {
            hasToldOfReplies = true
            output.note("no reply for \(seconds) s: \"pushctl status\" says what the daemon waits for, if it answers")
            return
        }
        hasToldOfOutcomes = true
        let count = outstanding.undecidedCount
        output.note(
            "no outcome for \(seconds) s; \(counted(count, "request")) still \(count == 1 ? "has" : "have") "
                + "some to come: waiting on; \"pushctl status\" tells why")
    }

    private func mustReceive() throws(Failure) -> Bool {
        do { return try connection.mustReceive() } catch { throw Failure(error, path) }
    }

    private var incomplete: Failure {
        Failure(
            .unavailable,
            "the daemon closed the connection; \(counted(outstanding.unansweredCount, "request")) got no reply "
                + "and may have been accepted or not")
    }

    private mutating func take(_ line: [UInt8]) {
        let reply = (try? JSONDocument(scanning: line))?.root
        let match = outstanding.take(reply)
        if let isAccepted = reply?["ok"]?.bool {
            accepted += isAccepted ? 1 : 0
            refusedRequests += isAccepted ? 0 : 1
        }
        leader = leader ?? reply?["error"]?["leader"]?.string
        if reply?["ok"]?.bool == false || reply?["rejected"] != nil { refused += 1 }
        if failsByOutcome, let reply, reply.isBadEnd(ofOwner: true) { refused += 1 }
        guard !printsJSON else { return output.write(line: line) }
        guard let reply else { return }
        switch match {
        case .reply(let place): print(reply, from: place ?? "the connection")
        case .outcome: printOutcome(reply)
        }
    }

    private func print(_ reply: JSONNode, from place: String) {
        if reply["ok"]?.bool == true {
            let seq = reply["seq"]?.int64 ?? 0
            let isRepeated = lastBefore.map { seq <= $0 } ?? false
            output.print("\(isRepeated ? "accepted before" : "accepted")  seq \(seq)  (\(place))\n")
            for part in reply["rejected"]?.elements ?? [] {
                let field = part["field"]?.string.map { $0.isEmpty ? "" : "\($0.showingControls()): " } ?? ""
                let number = part["entry"]?.int64 ?? 0
                output.note(
                    "\(place): custom data rejected, entry \(number): "
                        + "\(field)\((part["message"]?.string ?? "").showingControls())")
            }
            return
        }
        // It is told at the end.
        if leader == nil { output.note("\(place): refused: \(reply.refusal)") }
    }

    private mutating func printOutcome(_ line: JSONNode) {
        let seq = SequenceNumber(line["seq"]?.int64 ?? 0)
        output.print(
            OutcomeText.line(
                seq: seq, callback: line["callback"]?.string ?? "", handler: line["handler"]?.string,
                isObserver: line["observer"]?.bool == true, outcome: line["outcome"]?.string ?? "",
                milliseconds: line["total_ms"]?.int64 ?? 0, reason: line["reason"]?.string))
        guard line["handler"] != nil, line.isBadEnd(ofOwner: false), outputsLeft > 0 else { return }
        outputsLeft -= 1
        let id = InvocationID(seq: seq, n: Int(line["n"]?.int64 ?? 0))
        output.print(readOutputs(id))
    }
}

extension JSONNode {
    /// Whether it is the outcome of an invocation that is no success.
    ///
    /// - Parameter ofOwner: whether a copy for an observer does not count.
    fileprivate func isBadEnd(ofOwner: Bool) -> Bool {
        guard let outcome = self["outcome"]?.string.flatMap(Outcome.init(rawValue:)) else { return false }
        return !outcome.isSuccess && !(ofOwner && self["observer"]?.bool == true)
    }

    /// Why the daemon refused a request, of its reply.
    var refusal: String {
        let error = self["error"]
        let field = error?["field"]?.string.map { "\($0): " } ?? ""
        return "\(field)\(error?["message"]?.string ?? "") (\(error?["code"]?.string ?? "no reason given"))"
    }
}
