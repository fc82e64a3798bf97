import LedgerReports
import LinuxSystem
import PushModel
import PushSettings
import PushViews
import Store

extension Command {
    static let top = Command(
        name: "top", summary: "watch handlers, rates and missed deadlines on a live screen",
        description: [
            """
            Shows, updated once a second: the requests accepted and invocations decided in a second, with a chart of \
            the last minute; the requests in flight; the deadline compliance of the last five minutes with the \
            deadline of the handlers; each handler with its running and waiting callbacks, the p99 of its runs, \
            failures and misses; the ten longest lanes; and the last missed invocations. "pushctl show SEQ" prints the \
            full record of one. A lane has the number of waiting deliveries, the age of the oldest one, and the \
            request that has the turn, with its handler and the time of its turn.
            """,
            """
            It asks the daemon as pushctl status does, and reads the ledger in the state directory; if the daemon does \
            not answer, the screen says so and goes on. Of the time before the start it reads the last 100,000 \
            requests at most; the screen shows the time that its figures cover. Observers are not counted.
            """,
            """
            Keys: q ends it, space freezes the picture and lets it go on; n, r, p, f and m sort the handlers by name, \
            running, p99, failures and misses. At its end top restores the terminal. With --once, and without a \
            terminal, it prints one picture.
            """,
        ],
        operands: .none,
        options: [.once, .utc],
        examples: [
            Example(line: "pushctl top", meaning: "at a terminal"),
            Example(line: "pushctl top --once", meaning: "one picture, such as for a ticket"),
        ]
    ) { arguments, session throws(Failure) in
        var top = try Top(session, zone: arguments.zone)
        if arguments.has(.once) || !Terminal.isThere {
            session.output.print(top.picture)
            return .done
        }
        try top.run(at: Terminal(session.output))
        return .done
    }
}

/// The state of the screen.
private struct Top {
    private static let interval = Duration.seconds(1)
    /// In milliseconds.
    private static let answerTimeout = 1000
    private static let widthForPrograms = 120

    private let session: Session
    private var screen: LiveScreen
    private var reading: LiveReading
    private var now = LocalTime.now
    private var status: JSONNode?
    private var problem: String?

    /// Reads the first figures.
    init(_ session: Session, zone: LocalZone) throws(Failure) {
        self.session = session
        screen = LiveScreen(zone: zone, usesUnicode: session.output.usesUnicode)
        let (ledger, begin) = (try session.ledger(), now)
        reading = try Session.reading { () throws(StoreError) in try LiveReading(ledger, at: begin) }
        try refresh()
    }

    /// The screen once, for `--once`.
    var picture: [ReportLine] { lines(width: session.output.width ?? Self.widthForPrograms, height: nil) }

    /// Draws until the user ends it.
    mutating func run(at terminal: Terminal) throws(Failure) {
        defer { terminal.leave() }
        var due = Instant.now + Self.interval
        while true {
            let size = terminal.size
            terminal.draw(lines(width: size.width, height: size.height))
            switch terminal.next(within: due - Instant.now) {
            case .end, .key(UInt8(ascii: "q")): return
            case .key(UInt8(ascii: " ")): screen.isFrozen.toggle()
            case .key(let key): screen.order = LiveScreen.Order.allCases.first { $0.key == key } ?? screen.order
            case .redraw: break
            case .timeout:
                if !screen.isFrozen { try refresh() }
                due = Instant.now + Self.interval
            }
        }
    }

    private func lines(width: Int, height: Int?) -> [ReportLine] {
        screen.lines(status: status, problem: problem, figures: reading.figures, at: now, width: width, height: height)
    }

    /// Asks the daemon for its status, and reads new rows of the ledger.
    private mutating func refresh() throws(Failure) {
        do throws(DaemonError) {
            let answer = try session.connection(for: .status).ask(.status, timeoutMilliseconds: Self.answerTimeout)
            status = answer.root["status"]
            problem = status == nil ? "the answer has no status" : nil
        } catch {
            status = nil
            let failure = Failure(error, session.directories.controlSocket, asking: "status")
            problem = failure.message.split(separator: "\n").first.map(String.init)
        }
        var live = reading
        try Session.reading { () throws(StoreError) in try live.refresh { LocalTime.now } }
        reading = live
        now = LocalTime.now
        reading.figures.forget(at: now)
    }
}
