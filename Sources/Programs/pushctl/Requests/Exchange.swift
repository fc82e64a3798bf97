import LinuxSystem
import PushModel
import PushSettings
import PushViews
import Store

/// Sends requests without waiting for each reply, and matches the replies, which come in order.
struct Exchange {
    private let connection: DaemonConnection
    private let path: String
    private let output: Output
    private let printsJSON: Bool
    /// The places of requests whose replies or outcomes are still to come.
    private var outstanding = OutstandingRequests<String>()
    private var batch: [UInt8] = []
    /// Whether an outcome that is no success counts as a refusal (`--fail`).
    private let failsByOutcome: Bool
    /// The last number that the daemon had given before any request was sent: a request with that number or a lower one
    /// is a repetition. `nil`: unknown.
    private let lastBefore: Int64?
    /// The numbers of requests that the daemon accepted, and that it refused as a whole.
    private(set) var accepted = 0
    private(set) var refusedRequests = 0
    /// The number of requests that were refused as a whole or in part; with ``failsByOutcome`` also those without
    /// success.
    private(set) var refused = 0

    /// The number of the request that was accepted last.
    private(set) var lastAccepted: SequenceNumber?

    /// The machine that leads, if this one follows.
    private var leader: String?

    /// So few that their replies fit into the socket's buffer many times.
    private static let outstandingLimit = 256
    private static let batchSize = 32 << 10
    private let patience: Patience
    private var hasNotedReplies = false
    private var hasNotedOutcomes = false
    /// Reads the standard error of an invocation's handlers, for an outcome without success; empty if it is unknown.
    private let readOutputs: (InvocationID) -> String
    /// The number of outcomes whose standard error may still be read: each of them costs a query of the ledger.
    private var outputsLeft = 20

    /// How long the daemon may be silent before this program prints a note, in milliseconds.
    struct Patience {
        /// During the wait for a reply.
        var reply = 10_000
        /// During the wait for an outcome: longer than any deadline.
        var outcome = 15_000
    }

    /// Connects to the socket at `path`; takes the format of the replies from the options.
    ///
    /// - Parameters:
    ///   - lastBefore: the last number that the daemon has given, to recognize repetitions.
    ///   - patience: how long the daemon may be silent before a note.
    ///   - readOutputs: reads the standard error of an invocation's handlers, for people.
    /// - Throws: when options exclude each other, or when no daemon listens.
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

    /// Checks the options about outcomes.
    static func check(_ arguments: Arguments) throws(Failure) {
        guard arguments.has(.fail), !arguments.has(.wait) else { return }
        throw arguments.usageFailure("--fail needs --wait")
    }

    /// Adds a request to the batch, which is sent when it is large enough.
    ///
    /// - Parameters:
    ///   - line: the request without a line feed.
    ///   - place: its place, for messages.
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

    /// Sends the rest of the batch, and prints every reply.
    mutating func settle() throws(Failure) {
        try sendBatch()
        while outstanding.unansweredCount > 0 { try receive() }
        output.flush()
    }

    /// Sends the rest of the batch, and prints all replies, and with `wait` the outcomes that the replies announce.
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
        // Outcomes come at any time: they are read, so that they do not fill the socket's buffer.
        while try mustReceive() { try receive() }
        do throws(DaemonError) {
            try connection.send(batch)
        } catch {
            // The last replies have the reason for the closed connection, such as a line that is too long.
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

    /// Ends the exchange if another machine leads: this one would refuse all other requests, too.
    private func checkLeader() throws(Failure) {
        if let leader { throw Failure(asking: "request", of: leader) }
    }

    /// The next line, without a time limit; prints one note without a reply, and one without an outcome.
    private mutating func receiveLine() throws(Failure) -> [UInt8]? {
        while true {
            let limit = limit
            do throws(DaemonError) {
                return try connection.receiveLine(timeoutMilliseconds: limit)
            } catch {
                guard let limit, case .socket(.timedOut) = error else { throw Failure(error, path) }
                noteSilence(limit / 1000)
            }
        }
    }

    /// The time until the next note, in milliseconds; `nil`: none is left.
    private var limit: Int? {
        if outstanding.unansweredCount > 0 { return hasNotedReplies ? nil : patience.reply }
        return outstanding.undecidedCount == 0 || hasNotedOutcomes ? nil : patience.outcome
    }

    private mutating func noteSilence(_ seconds: Int) {
        guard outstanding.unansweredCount == 0 else {
            hasNotedReplies = true
            output.note("no reply for \(seconds) s: \"pushctl status\" shows the reason, if the daemon answers")
            return
        }
        hasNotedOutcomes = true
        let count = outstanding.undecidedCount
        output.note(
            "no outcome for \(seconds) s; \(counted(count, "request")) still \(count == 1 ? "has" : "have") "
                + "outcomes to come, and pushctl waits on; \"pushctl status\" shows the reason")
    }

    private func mustReceive() throws(Failure) -> Bool {
        do { return try connection.mustReceive() } catch { throw Failure(error, path) }
    }

    private var incomplete: Failure {
        Failure(
            .unavailable,
            "the daemon closed the connection; \(counted(outstanding.unansweredCount, "request")) got no reply "
                + "and may or may not have been accepted")
    }

    private mutating func take(_ line: [UInt8]) {
        let reply = (try? JSONDocument(scanning: line))?.root
        let match = outstanding.take(reply)
        if let isAccepted = reply?["ok"]?.bool {
            accepted += isAccepted ? 1 : 0
            refusedRequests += isAccepted ? 0 : 1
            if isAccepted { lastAccepted = reply?["seq"]?.int64.map { SequenceNumber($0) } }
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
        // A leader elsewhere is reported at the end.
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
    /// Whether the line is an outcome without success.
    ///
    /// - Parameter ofOwner: whether outcomes of observers are ignored.
    fileprivate func isBadEnd(ofOwner: Bool) -> Bool {
        guard let outcome = self["outcome"]?.string.flatMap(Outcome.init(rawValue:)) else { return false }
        return !outcome.isDone && !(ofOwner && self["observer"]?.bool == true)
    }

    /// The reason of a refusal in a reply.
    var refusal: String {
        let error = self["error"]
        let field = error?["field"]?.string.map { "\($0): " } ?? ""
        return "\(field)\(error?["message"]?.string ?? "") (\(error?["code"]?.string ?? "no reason given"))"
    }
}

extension Failure {
    /// The failure for an error of the connection to the daemon, in words for the user.
    ///
    /// - Parameters:
    ///   - error: the error.
    ///   - path: the path of the socket.
    ///   - operation: the request, for a refusal.
    init(_ error: DaemonError, _ path: String, asking operation: String = "request") {
        switch error {
        case .socket(let error): self.init(error, path)
        case .noAnswer: self.init(.unavailable, error.description)
        case .refused(let refusal) where refusal.leader != nil:
            self.init(asking: operation, of: refusal.leader ?? "")
        case .refused(let refusal):
            let field = refusal.field.map { "\($0): " } ?? ""
            self.init(.no, "\(operation): refused: \(field)\(refusal.message) (\(refusal.code.rawValue))")
        case .unreadable(let path, let reason):
            self.init(.unavailable, "\(path): not an answer to \(operation): \(reason)")
        }
    }

    /// The failure because another machine leads, which accepts what this one refuses.
    init(asking operation: String, of leader: String) {
        let words = CommandLine.arguments.dropFirst().map(Self.inShell).joined(separator: " ")
        self.init(
            .unavailable, "\(operation): this machine follows, and \(leader) leads: run \"pushctl \(words)\" there")
    }

    /// A word, quoted for a shell.
    private static func inShell(_ word: String) -> String {
        let isPlain = word.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".", "/", ":", "=", ",", "+", "@", "%": true
            default: false
            }
        }
        if isPlain, !word.isEmpty { return word }
        let parts = word.showingControls().split(separator: "'", omittingEmptySubsequences: false)
        return "'\(parts.joined(separator: "'\\''"))'"
    }

    private init(_ error: ClientError, _ path: String) {
        switch error {
        case .noSuchSocket, .noListener:
            self.init(
                .unavailable,
                """
                pushrouterd is not running: nothing listens on \(path)
                \(Self.howToStart(path)), or name its directory with --runtime DIR
                """)
        case .permissionDenied(let path): self.init(.noPermission, Self.notPermitted(path))
        case .pathTooLong: self.init(.usage, "\(error)")
        case .closed:
            self.init(
                .unavailable,
                "\(path): the daemon closed the connection; the daemon may be stopping; look at its journal")
        case .timedOut:
            let status = path.hasPrefix(Directories.standardRuntime + "/") ? ServiceUnit.status : nil
            self.init(
                .unavailable,
                """
                \(path): the daemon does not answer: its disk may be slow, or the daemon is stopped
                \(Self.lastStatus(status))look at "journalctl -u pushrouterd"; the recorded data can be read without the daemon: pushctl report
                """)
        case .lineTooLong, .system: self.init(.inputOutput, "\(error)")
        }
    }

    /// The line with the status that a daemon gave to the service manager, such as that its start waits for room.
    static func lastStatus(_ status: String?) -> String {
        status.map { "its last status: \($0.showingControls())\n" } ?? ""
    }

    private static func notPermitted(_ path: String) -> String {
        "this user may not use \(path)" + (Membership.advice(for: path).map { "\n\($0)" } ?? "")
    }

    /// The service listens in its own directory; in another directory a user's own daemon does.
    private static func howToStart(_ path: String) -> String {
        let directory = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        let command =
            directory == Directories.standardRuntime
            ? "systemctl start pushrouterd" : DevDirectory.start(of: path) ?? "pushrouterd --runtime \(directory)"
        let other = directory == Directories.standardRuntime ? ", or one of your own with \"pushctl dev\"" : ""
        return "start it with \"\(command)\"\(other)"
    }
}

/// The outcome of an invocation for a person who waited for it.
enum OutcomeText {
    /// The line, with its line feed.
    ///
    /// - Parameters:
    ///   - handler: the handler of the invocation; `nil`: it has none, or is the tracker's.
    ///   - milliseconds: from acceptance to the outcome.
    static func line(
        seq: SequenceNumber, callback: String, handler: String?, isObserver: Bool, outcome: String,
        milliseconds: Int64, reason: String?
    ) -> String {
        let owner = handler.map { " -> \($0)" } ?? ""
        let parts = [
            "seq \(seq)", callback + owner, isObserver ? "observer" : nil, outcome, "\(milliseconds) ms", reason,
        ]
        return parts.compactMap { $0?.showingControls() }.joined(separator: "  ") + "\n"
    }
}

extension Session {
    /// The last output of an invocation's handlers to standard error, for people; empty if there is none. A ledger that
    /// cannot be read is noted once.
    func outputs(of id: InvocationID) -> String {
        do throws(Failure) {
            let story = try reading { ledger throws(StoreError) in try ledger.story(of: id.seq) }
            guard let story, let invocation = story.invocations.first(where: { $0.id == id }) else { return "" }
            return story.outputs(of: invocation)
        } catch {
            output.noteOnce("the handler's standard error is not shown, for want of the ledger: \(error.message)")
            return ""
        }
    }
}

extension Session {
    /// Sends a request to control.sock, and returns the reply. A request that changes nothing goes to read.sock if this
    /// user may not use control.sock.
    ///
    /// - Throws: with the status "no" for a refusal, or another failure if there is no reply.
    func control(_ operation: ControlRequest.Operation) throws(Failure) -> JSONNode {
        let path = directories.controlSocket
        do {
            // A request that changes something waits for the disk, without a time limit.
            let limit = operation.changesNothing ? Self.answerLimit : nil
            return try connection(for: operation).ask(operation, timeoutMilliseconds: limit).root
        } catch {
            throw Failure(error, path, asking: operation.name)
        }
    }

    /// How long a reply that waits for nothing may take, in milliseconds.
    private static let answerLimit = 5000

    /// Connects to the socket on which this user may send the request.
    ///
    /// - Throws: the error of control.sock; that of read.sock if this user may use neither.
    func connection(for operation: ControlRequest.Operation) throws(DaemonError) -> DaemonConnection {
        do throws(DaemonError) {
            return try DaemonConnection(directories.controlSocket)
        } catch {
            let path = directories.controlSocket
            guard error == .socket(.permissionDenied(path: path)), operation.changesNothing else { throw error }
            do throws(DaemonError) {
                return try DaemonConnection(directories.readSocket)
            } catch let second {
                throw second == .socket(.permissionDenied(path: directories.readSocket)) ? second : error
            }
        }
    }
}
