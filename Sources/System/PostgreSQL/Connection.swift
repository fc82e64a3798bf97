import CPostgreSQL
import Glibc
import LinuxSystem
import PushModel

/// A time on `CLOCK_MONOTONIC` by which a call must return.
struct Deadline {
    let nanoseconds: Int64

    init(after time: Duration) { nanoseconds = SystemClock.monotonicNanoseconds + time.nanoseconds }
    private init(at nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    var left: Int64 { nanoseconds - SystemClock.monotonicNanoseconds }

    /// Returns the deadline of the next one of so many steps that share the remaining time.
    func share(of steps: Int) -> Deadline {
        Deadline(at: nanoseconds - left / Int64(max(1, steps)) * Int64(max(0, steps - 1)))
    }
}

/// One session with a server, used by one thread at a time. No call waits longer than its deadline, except for the
/// look-up of a host's name: libc does it, with the timeout in `/etc/resolv.conf`.
struct Connection: ~Copyable {
    private let pointer: OpaquePointer
    private let notices: Notices
    /// The names of the statements that are prepared on the server.
    private var prepared: Set<String> = []

    /// The server's warnings.
    private final class Notices {
        var warnings: [String] = []
    }

    /// Connects to a host.
    ///
    /// - Parameter parameters: keywords of libpq, and their values.
    static func open(
        _ parameters: [(keyword: String, value: String)], until deadline: Deadline
    ) throws(EngineProblem) -> Connection {
        let texts = parameters.map { (strdup($0.keyword), strdup($0.value)) }
        defer {
            for (keyword, value) in texts {
                free(keyword)
                // The value may be the password.
                if let value { explicit_bzero(value, strlen(value)) }
                free(value)
            }
        }
        let keywords = texts.map { UnsafePointer($0.0) } + [nil]
        let values = texts.map { UnsafePointer($0.1) } + [nil]
        guard let pointer = PQconnectStartParams(keywords, values, 0) else {
            throw EngineProblem(.failing, message: "libpq has no memory left")
        }
        let connection = Connection(owning: pointer)
        // A refused connection has no result with fields: only the verbose text has the SQLSTATE.
        PQsetErrorVerbosity(pointer, PQERRORS_VERBOSE)
        try connection.finishConnecting(until: deadline)
        guard PQsetnonblocking(pointer, 1) == 0, PQenterPipelineMode(pointer) == 1 else { throw connection.lost() }
        return connection
    }

    private init(owning pointer: OpaquePointer) {
        self.pointer = pointer
        notices = Notices()
        PQsetNoticeReceiver(pointer, Self.receive, Unmanaged.passUnretained(notices).toOpaque())
    }

    deinit { PQfinish(pointer) }

    private borrowing func finishConnecting(until deadline: Deadline) throws(EngineProblem) {
        var wanted = PGRES_POLLING_WRITING
        while PQstatus(pointer) != CONNECTION_BAD {
            switch wanted {
            case PGRES_POLLING_OK: return
            case PGRES_POLLING_READING: try wait(for: POLLIN, until: deadline, "connecting")
            case PGRES_POLLING_WRITING: try wait(for: POLLOUT, until: deadline, "connecting")
            default: throw lost()
            }
            wanted = PQconnectPoll(pointer)
        }
        throw lost()
    }

    /// Keeps notices with the severity WARNING or worse.
    private static let receive: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void = { box, result in
        guard let box, let result, let severity = text(of: result, field: CPostgreSQL_severity) else { return }
        guard !["NOTICE", "INFO", "LOG", "DEBUG"].contains(severity) else { return }
        let message = text(of: result, field: CPostgreSQL_message) ?? severity
        Unmanaged<Notices>.fromOpaque(box).takeUnretainedValue().warnings.append(message)
    }

    private static func text(of result: OpaquePointer, field: Int) -> String? {
        PQresultErrorField(result, Int32(field)).map { String(cString: $0) }
    }

    /// The server's version: 150020 means 15.20.
    var serverVersion: Int { Int(PQserverVersion(pointer)) }

    // MARK: Statements

    /// The answer to one transaction.
    struct Answer: Sendable {
        /// The rows of each statement.
        var rows: [[Row]]
        /// The server's warnings up to the end of the transaction.
        var warnings: [String]
    }

    /// Runs transactions in order, in one round trip. The answer to each is complete only at ReadyForQuery, which
    /// follows its commit. CommandComplete may come before the commit.
    ///
    /// - Parameter transactions: the statements of each.
    /// - Returns: the answers up to the first transaction that failed, and its error.
    mutating func run(
        _ transactions: [[Call]], until deadline: Deadline
    ) -> (answers: [Answer], problem: EngineProblem?) {
        var answers: [Answer] = []
        do throws(EngineProblem) {
            notices.warnings = []
            var isNew: [Bool] = []
            for calls in transactions {
                for call in calls { isNew.append(try send(call)) }
                guard PQpipelineSync(pointer) == 1 else { throw lost() }
            }
            try flush(until: deadline)
            var place = isNew.makeIterator()
            for calls in transactions {
                var answer = Answer(rows: [], warnings: [])
                for _ in calls {
                    if place.next() == true { _ = try rows(until: deadline) }
                    answer.rows.append(try rows(until: deadline))
                }
                try readyForQuery(until: deadline)
                answer.warnings = notices.warnings
                answers.append(answer)
            }
            return (answers, nil)
        } catch {
            return (answers, error)
        }
    }

    /// Runs one statement in a transaction of its own.
    mutating func run(_ call: Call, until deadline: Deadline) throws(EngineProblem) -> [Row] {
        let (answers, problem) = run([[call]], until: deadline)
        if let problem { throw problem }
        return answers[0].rows[0]
    }

    /// Adds a statement to the output of the pipeline.
    ///
    /// - Returns: whether PREPARE is sent before it, which has an answer of its own.
    private mutating func send(_ call: Call) throws(EngineProblem) -> Bool {
        let statement = call.statement
        let isNew = prepared.insert(statement.name).inserted
        if isNew {
            let types = statement.parameters.map(\.rawValue)
            guard PQsendPrepare(pointer, statement.name, statement.text, Int32(types.count), types) == 1 else {
                throw lost()
            }
        }
        var buffer: [UInt8] = []
        var places: [Range<Int>?] = []
        for (value, type) in zip(call.values, statement.parameters) {
            let start = buffer.count
            places.append(value.write(as: type, to: &buffer) ? start..<buffer.count : nil)
        }
        // One more byte, so that an empty value at the end has an address in the buffer.
        buffer.append(0)
        let sent = buffer.withUnsafeBytes { bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            let pointers = places.map { place in place.flatMap { start?.advanced(by: $0.lowerBound) } }
            let lengths = places.map { Int32($0?.count ?? 0) }
            let formats = places.map { _ in Int32(1) }
            return PQsendQueryPrepared(
                pointer, statement.name, Int32(pointers.count), pointers, lengths, formats, 1)
        }
        guard sent == 1 else { throw lost() }
        return isNew
    }

    /// Sends the output, and reads the input meanwhile: otherwise both ends could wait for each other.
    private borrowing func flush(until deadline: Deadline) throws(EngineProblem) {
        while true {
            switch PQflush(pointer) {
            case 0: return
            case 1:
                try wait(for: POLLIN | POLLOUT, until: deadline, "sending")
                guard PQconsumeInput(pointer) == 1 else { throw lost() }
            default: throw lost()
            }
        }
    }

    /// Returns the next result; `nil` at the end of an answer.
    private borrowing func next(until deadline: Deadline) throws(EngineProblem) -> Result? {
        while PQisBusy(pointer) == 1 {
            try wait(for: POLLIN, until: deadline, "waiting for an answer")
            guard PQconsumeInput(pointer) == 1 else { throw lost() }
        }
        return PQgetResult(pointer).map { Result(pointer: $0) }
    }

    /// Reads the rows of a statement: its one result, and the end of its answer.
    private borrowing func rows(until deadline: Deadline) throws(EngineProblem) -> [Row] {
        guard let result = try next(until: deadline) else { throw lost() }
        let rows = try result.rows()
        guard try next(until: deadline) == nil else { throw lost() }
        return rows
    }

    private borrowing func readyForQuery(until deadline: Deadline) throws(EngineProblem) {
        guard let result = try next(until: deadline) else { throw lost() }
        guard result.status == PGRES_PIPELINE_SYNC else { throw result.problem }
    }

    private struct Result: ~Copyable {
        let pointer: OpaquePointer

        deinit { PQclear(pointer) }

        var status: ExecStatusType { PQresultStatus(pointer) }

        var problem: EngineProblem {
            let code = Connection.text(of: pointer, field: CPostgreSQL_state) ?? ""
            let message =
                Connection.text(of: pointer, field: CPostgreSQL_message)
                ?? String(cString: PQresultErrorMessage(pointer))
            let hint = StateCodes.hint(of: code).map { "; \($0)" } ?? ""
            return EngineProblem(StateCodes.kind(of: code), code: code, message: Connection.oneLine(message) + hint)
        }

        /// Returns copies of all rows.
        func rows() throws(EngineProblem) -> [Row] {
            guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else { throw problem }
            return (0..<PQntuples(pointer)).map { row in
                Row(
                    columns: (0..<PQnfields(pointer)).map { column in
                        guard PQgetisnull(pointer, row, column) == 0, let value = PQgetvalue(pointer, row, column)
                        else { return nil }
                        return Array(
                            UnsafeRawBufferPointer(start: value, count: Int(PQgetlength(pointer, row, column))))
                    })
            }
        }
    }

    // MARK: Waiting

    /// Waits until the socket is ready.
    private borrowing func wait(
        for events: Int32, until deadline: Deadline, _ what: StaticString
    ) throws(EngineProblem) {
        let socket = PQsocket(pointer)
        guard socket >= 0 else { throw lost() }
        while true {
            var descriptors = [pollfd(fd: socket, events: Int16(events), revents: 0)]
            let left = deadline.left
            guard left > 0 else {
                throw EngineProblem(.unreachable, message: "the database did not answer in time (\(what))")
            }
            if waitUntilReady(&descriptors, nanoseconds: left) { return }
        }
    }

    /// Makes an error from libpq's message about a broken connection.
    private borrowing func lost() -> EngineProblem {
        let (message, code) = Self.words(String(cString: PQerrorMessage(pointer)))
        return EngineProblem(
            StateCodes.kind(of: code), code: code, message: message.isEmpty ? "the connection is lost" : message)
    }

    /// Separates the SQLSTATE from libpq's verbose message, such as `FATAL:  3D000: database "x" does not exist`, and
    /// drops the LOCATION line.
    static func words(_ text: String) -> (message: String, code: String) {
        let message = oneLine(text.split(separator: "\n").filter { !$0.hasPrefix("LOCATION:") }.joined(separator: "\n"))
        let bytes = Array(message.utf8)
        let (before, after) = (Array(":  ".utf8), Array(": ".utf8))
        for start in bytes.indices.dropLast(9) where bytes[start...].starts(with: before) {
            let code = bytes[(start + 3)..<(start + 8)]
            guard bytes[(start + 8)...].starts(with: after), code.allSatisfy(isOfCode) else { continue }
            let rest = bytes[..<(start + 3)] + bytes[(start + 10)...]
            return (String(decoding: rest, as: UTF8.self), String(decoding: code, as: UTF8.self))
        }
        return (message, "")
    }

    private static func isOfCode(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
    }

    private static func oneLine(_ text: String) -> String {
        text.split(separator: "\n").map { $0.drop { $0 == "\t" || $0 == " " } }.joined(separator: "; ")
    }
}

/// A session that connects on demand, and is closed after a failure.
struct Session: ~Copyable {
    private var connection: Connection?
    /// The host that answered last, which is tried first.
    private var preferred = 0

    /// Connects to one of the hosts, unless there is a connection.
    ///
    /// - Parameter begin: the first calls on a new connection; if one fails, the next host is tried.
    mutating func connect(
        _ address: ConnectionString, _ settings: SessionSettings, until deadline: Deadline,
        begin: (inout Connection) throws(EngineProblem) -> Void
    ) throws(EngineProblem) {
        guard connection == nil else { return }
        let hosts = address.hosts
        var problems: [EngineProblem] = []
        var acceptsLogin = false
        for attempt in hosts.indices {
            let place = (preferred + attempt) % hosts.count
            do throws(EngineProblem) {
                let share = deadline.share(of: hosts.count - attempt)
                var opened = try Connection.open(address.parameters(for: hosts[place], session: settings), until: share)
                acceptsLogin = true
                try begin(&opened)
                connection = consume opened
                preferred = place
                return
            } catch {
                guard error.kind != .newer else { throw error }
                let prefix = hosts.count > 1 ? "\(hosts[place].description): " : ""
                problems.append(EngineProblem(error.kind, code: error.code, message: prefix + error.message))
            }
        }
        throw Self.joined(problems, acceptsLogin ? nil : address.passwordFileFault)
    }

    /// Joins the errors of all hosts into one, of the first kind of `wrongDatabase`, `lacking` and `failing` that
    /// one of them has.
    ///
    /// - Parameter fault: a further cause; `nil`: none is known.
    private static func joined(_ problems: [EngineProblem], _ fault: String?) -> EngineProblem {
        let kinds: [EngineProblem.Kind] = [.wrongDatabase, .lacking, .failing]
        let worst = kinds.lazy.compactMap { kind in problems.first { $0.kind == kind } }.first ?? problems[0]
        let messages = problems.map(\.message) + [fault].compactMap(\.self)
        return EngineProblem(worst.kind, code: worst.code, message: messages.joined(separator: "; "))
    }

    /// Runs transactions on the connection; closes it if one fails.
    mutating func run(
        _ transactions: [[Call]], until deadline: Deadline
    ) -> (answers: [Connection.Answer], problem: EngineProblem?) {
        guard var open = connection.take() else {
            return ([], EngineProblem(.unreachable, message: "there is no connection"))
        }
        let outcome = open.run(transactions, until: deadline)
        if outcome.problem == nil { connection = consume open }
        return outcome
    }
}
