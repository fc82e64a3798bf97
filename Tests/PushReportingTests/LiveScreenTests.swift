import Testing

@testable import PushModel
@testable import PushViews

@Suite("The live screen", .timeLimit(.minutes(30)))
struct LiveScreenTests {
    private static let now = WallTime(milliseconds: 1_795_230_600_000)

    private static let status = #"""
        {"version":"0.1","mode":"relay","uptime_ms":307000,"state":"running","configuration_problem":null,
         "store_problem":null,"accepted_since_start":1204,"requests_in_flight":3,"bytes_in_flight":4096,
         "store":{"ledger_problem":null},
         "handlers":{"crm":{"running":2,"waiting":5,"limit":4,"breaker":"open","draining":false},
                     "audit":{"running":0,"waiting":0,"limit":null,"breaker":null,"draining":true}}}
        """#

    /// The status with two lanes with waiting deliveries.
    private static let lanes = status.replacing(
        #""handlers":"#,
        with: #"""
            "lanes":{"crowded":1200,"waiting":4801,"longest":[
                {"app":"com.example.shop","device":"phone","waiting":3600,"seq":41,"n":0,"handler":"crm","turn_ms":8200,
                 "age_ms":61000},
                {"app":null,"device":"pixel","waiting":2,"seq":42,"n":1,"handler":null,"turn_ms":5,"age_ms":999}]},
            "handlers":
            """#)

    private static func decided(
        _ seq: Int64, _ outcome: Outcome, handler: String = "crm", exec: Duration = .milliseconds(5),
        secondsAgo: Int64 = 1
    ) -> ReportRow {
        var decided = row(seq, outcome, handler: handler, exec: exec)
        decided.invocation.result?.decidedAt = WallTime(milliseconds: now.milliseconds - secondsAgo * 1000)
        return decided
    }

    private static func figures(_ rows: [ReportRow]) -> LiveFigures {
        var figures = LiveFigures(since: WallTime(milliseconds: now.milliseconds - 300_000))
        rows.forEach { figures.add($0) }
        figures.forget(at: now)
        return figures
    }

    private func draw(
        _ figures: LiveFigures, status: String? = Self.status, problem: String? = nil, width: Int = 100,
        height: Int? = nil, order: LiveScreen.Order = .misses, isFrozen: Bool = false
    ) throws -> [String] {
        var screen = LiveScreen(zone: .utc)
        screen.order = order
        screen.isFrozen = isFrozen
        let root = try status.map { try JSONDocument(scanning: Array($0.utf8)).root }
        return screen.lines(
            status: root, problem: problem, figures: figures, at: Self.now, width: width, height: height
        ).map(\.text)
    }

    @Test("shows the daemon, rates, compliance, handlers and the last misses")
    func whole() throws {
        let rows =
            (1...97).map { Self.decided($0, .handled, exec: .milliseconds(1)) } + [
                Self.decided(98, .failed, handler: "journal", exec: .milliseconds(40)),
                Self.decided(99, .timedOut, exec: .seconds(9)), Self.decided(100, .handedToTracker, handler: "crm"),
            ]
        var figures = Self.figures(rows)
        for _ in 0..<25 { figures.add(acceptedAt: WallTime(milliseconds: Self.now.milliseconds - 3000)) }
        #expect(
            try draw(figures) == [
                "pushrouterd 0.1, mode relay, running, up 5 min 7 s",
                "2026-11-21 03:10:00 +00:00",
                "Accepted  2.5/s  1,204 since start, in flight 3 (4,096 bytes)",
                "Decided   10.0/s  100 in the last 5 min  \(String(repeating: "▁", count: 29))█",
                "Deadline  98.9 % of 9 s  due 99, missed 1, failed 1",
                "",
                "Handlers by misses",
                "Handler  Running  Waiting   p99 ms  Failed  Missed  Decided  Limit  State",
                "crm            2        5  9,000.0       0       1       99      4  breaker open",
                "audit          0        0        -       0       0        0      -  draining",
                "journal        0        0     40.0       1       0        1      -",
                "",
                "Last misses",
                "2026-11-21 03:09:59.000 +00:00  seq 99  timed_out  crm  9,000 ms",
            ])
    }

    @Test("draws the last minute with two seconds a bar, as far as there is room, and only with block characters")
    func chart() throws {
        let rows = (1...12).map { Self.decided($0, .handled, secondsAgo: $0 * 5) } + [Self.decided(20, .handled)]
        let figures = Self.figures(rows + [Self.decided(21, .handled)])
        let line = try #require(try draw(figures).first { $0.hasPrefix("Decided ") })
        #expect(line.hasSuffix("  " + "▄▁▄▁▁" + String(repeating: "▄▁▄▁▁", count: 4) + "▄▁▄▁█"), "\(line)")
        #expect(
            try draw(figures, width: 60).contains { $0.hasPrefix("Decided ") && $0.count == 60 && $0.hasSuffix("█") })
        #expect(try draw(figures, width: 44).contains { $0.hasPrefix("Decided ") && !$0.contains("█") })
        let screen = LiveScreen(zone: .utc, usesUnicode: false)
        let plain = screen.lines(
            status: nil, problem: nil, figures: figures, at: Self.now, width: 100, height: nil)
        #expect(plain.allSatisfy { $0.text.utf8.allSatisfy { $0 < 128 } })
    }

    @Test("colours misses as bad, failures or a closed state as warnings, and the deadline as good only if it was kept")
    func tones() throws {
        let status = try JSONDocument(scanning: Array(Self.status.utf8)).root
        func tone(_ rows: [ReportRow], _ prefix: String) -> ReportLine.Tone? {
            LiveScreen(zone: .utc).lines(
                status: status, problem: nil, figures: Self.figures(rows), at: Self.now, width: 100, height: nil
            ).first { $0.text.hasPrefix(prefix) }?.tone
        }
        #expect(tone([Self.decided(1, .timedOut)], "crm ") == .bad)
        #expect(tone([Self.decided(1, .handled)], "crm ") == .warning, "its breaker is open")
        #expect(tone([Self.decided(1, .handled)], "Deadline ") == .good)
        #expect(tone([Self.decided(1, .expired)], "Deadline ") == .bad)
        #expect(tone([], "Deadline ") == .plain)
    }

    @Test("shows the longest lanes, their waiting counts, the age of the oldest, and the head")
    func laneTable() throws {
        let figures = Self.figures([Self.decided(1, .timedOut)])
        let lines = try draw(figures, status: Self.lanes)
        let start = try #require(lines.firstIndex { $0.hasPrefix("Longest lanes") })
        #expect(
            lines[(start - 1)..<(start + 5)] == [
                "",
                "Longest lanes, of 1,200 with 4,801 waiting",
                "Device  Waiting     Oldest  Has the turn    for  App",
                "phone     3,600  1 min 1 s  seq 41 crm    8.2 s  com.example.shop",
                "pixel         2     999 ms  seq 42 -       5 ms  -",
                "",
            ])
        #expect(lines[start + 5] == "Last misses")
        // 24 lines: 5 of the head, 1 of the keys, 6 of the handlers.
        #expect(try draw(figures, status: Self.lanes, height: 24).contains { $0.hasPrefix("pixel ") })
        let small = try draw(figures, status: Self.lanes, height: 15)
        #expect(!small.contains { $0.hasPrefix("Longest lanes") })
        #expect(try draw(figures, status: Self.lanes, width: 40).contains { $0.hasSuffix("Has the turn") })
    }

    @Test("does not show the running and waiting copies for observers")
    func observersOfHandler() throws {
        let observed = #""crm":{"running":2,"waiting":5,"observers_running":1,"observers_waiting":5,"#
        let status = Self.status.replacing(#""crm":{"running":2,"waiting":5,"#, with: observed)
        #expect(try draw(Self.figures([]), status: status).contains { $0.hasPrefix("crm            1        0 ") })
    }

    @Test("forgets outcomes older than five minutes, and those that a clock step left in the future")
    func window() {
        var figures = Self.figures([
            Self.decided(1, .handled, secondsAgo: 299), Self.decided(2, .handled, secondsAgo: 311),
            Self.decided(3, .handled, secondsAgo: -60),
        ])
        #expect(figures.decided == 1)
        figures.forget(at: WallTime(milliseconds: Self.now.milliseconds + 20_000))
        #expect(figures.decided == 0)
        #expect(figures.span(at: Self.now) == .seconds(300))
        #expect(LiveFigures(since: Self.now).span(at: WallTime(milliseconds: 0)) == .zero)
    }

    @Test("counts no observer, and keeps a miss until fifty more came")
    func bounds() {
        var observer = Self.decided(1, .timedOut)
        observer.invocation.isObserver = true
        let figures = Self.figures([observer] + (2...61).map { Self.decided($0, .expired, exec: .zero) })
        #expect(figures.decided == 60 && figures.compliance.missed == 60)
        #expect(figures.misses.map(\.invocation.id.seq.value) == Array(12...61))
        #expect(figures.handlers["crm"]?.exec.max == nil)
    }

    @Test(
        "fits every size, with the keys in the last line",
        arguments: [1, 5, 16, 20, 60, 80, 200], [0, 1, 2, 7, 16, 50])
    func sizes(_ width: Int, _ height: Int) throws {
        let rows = (1...40).map { Self.decided($0, .timedOut, handler: "handler-\($0)-with-a-name", exec: .seconds(9)) }
        let lines = try draw(Self.figures(rows), status: Self.lanes, width: width, height: height)
        #expect(lines.count == height)
        #expect(lines.allSatisfy { $0.count <= width })
        if width >= 60, height > 0 { #expect(lines.last?.hasPrefix("q quit  space freeze  n name") == true) }
        if width >= 60, height == 50 { #expect(lines.contains { $0.hasPrefix("and ") && $0.hasSuffix(" more") }) }
    }

    @Test("shows all handlers on a small screen before any miss, and no heading alone")
    func small() throws {
        let figures = Self.figures([Self.decided(1, .timedOut, exec: .seconds(9)), Self.decided(2, .expired)])
        let small = try draw(figures, height: 13)
        #expect(small.contains { $0.hasPrefix("audit ") } && !small.contains("Last misses"))
        let larger = try draw(figures, height: 14)
        #expect(larger.contains { $0.hasPrefix("audit ") } && larger.contains("Last misses"))
        #expect(larger.compactMap { $0.firstRange(of: "  seq ") }.count == 1)
        #expect(larger.contains { $0.contains("  seq 2  expired") })
    }

    @Test("leaves out the last columns of a narrow screen, never the name or a part of a number")
    func narrow() throws {
        let lines = try draw(Self.figures([Self.decided(1, .handled)]), width: 40)
        let heading = try #require(lines.first { $0.hasPrefix("Handler ") })
        #expect(heading.split(separator: " ").joined(separator: " ") == "Handler Running Waiting p99 ms")
    }

    @Test("sorts by the chosen column, equal rows by name")
    func orders() throws {
        let rows = [
            Self.decided(1, .handled, handler: "slow", exec: .seconds(3)), Self.decided(2, .failed, handler: "broken"),
            Self.decided(3, .timedOut, handler: "late", exec: .milliseconds(1)),
        ]
        func names(_ order: LiveScreen.Order) throws -> [String] {
            let lines = try draw(Self.figures(rows), order: order)
            let start = try #require(lines.firstIndex { $0.hasPrefix("Handler ") })
            return lines[(start + 1)..<(start + 6)].map { String($0.prefix { $0 != " " }) }
        }
        #expect(try names(.name) == ["audit", "broken", "crm", "late", "slow"])
        #expect(try names(.running) == ["crm", "audit", "broken", "late", "slow"])
        #expect(try names(.p99) == ["slow", "broken", "late", "audit", "crm"])
        #expect(try names(.failures) == ["broken", "audit", "crm", "late", "slow"])
        #expect(try names(.misses) == ["late", "audit", "broken", "crm", "slow"])
        #expect(Set(LiveScreen.Order.allCases.map(\.key)).count == LiveScreen.Order.allCases.count)
    }

    @Test("reports that the daemon does not answer, its problems, and that the picture is stale")
    func problems() throws {
        let lines = try draw(Self.figures([]), status: nil, problem: "not running", isFrozen: true)
        #expect(lines.first == "no answer from pushrouterd: not running")
        #expect(lines[1].hasSuffix(", frozen") && lines.contains("No handlers."))
        #expect(lines.contains("Deadline  nothing was due  due 0, missed 0, failed 0"))
        let status = Self.status.replacing(#""store_problem":null"#, with: #""store_problem":"the disk is full""#)
        #expect(try draw(Self.figures([]), status: status).contains("Problem   store: the disk is full"))
    }

    @Test("lets no text from outside control the terminal")
    func controls() throws {
        let lines = try draw(Self.figures([Self.decided(1, .timedOut, handler: "a\u{1b}[2J\nb\u{9b}")]))
        #expect(lines.allSatisfy { $0.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } })
        #expect(lines.contains { $0.contains(#"a\x1b[2J\x0ab\x9b"#) })
    }
}
