import Testing

@testable import PushModel
@testable import PushViews

@Suite("A load generator")
struct LoadTests {
    private static let second: Int64 = 1_000_000_000

    /// Takes all requests that may be sent at a time.
    private func take(_ schedule: inout LoadSchedule, at now: Int64, room: Int = .max) -> [Int64] {
        var times: [Int64] = []
        while times.count < room, let time = schedule.take(at: now) { times.append(time) }
        return times
    }

    @Test("with a rate schedules each request for its own time, if there is room for it")
    func open() {
        var schedule = LoadSchedule(begin: 1000, length: nil, count: 5, rate: 10)
        let step = Self.second / 10
        #expect(schedule.nextTime(at: 0) == 1000)
        #expect(take(&schedule, at: 1000) == [1000])
        #expect(schedule.nextTime(at: 1000) == 1000 + step)
        #expect(take(&schedule, at: 999 + step) == [])
        // The server stalled: a delayed request keeps its scheduled time.
        #expect(take(&schedule, at: 1000 + 3 * step + 7) == [1000 + step, 1000 + 2 * step, 1000 + 3 * step])
        #expect(!schedule.isOver(at: 100 * Self.second))
        #expect(take(&schedule, at: 100 * Self.second) == [1000 + 4 * step])
        #expect(schedule.isOver(at: 0) && schedule.nextTime(at: 0) == nil)
    }

    @Test("without a rate sends while there is room, until the count or the end")
    func closed() {
        var counted = LoadSchedule(begin: 0, length: nil, count: 3, rate: nil)
        #expect(take(&counted, at: 5, room: 2) == [5, 5] && take(&counted, at: 9) == [9])
        #expect(counted.isOver(at: 9) && counted.nextTime(at: 9) == nil)
        var timed = LoadSchedule(begin: 0, length: 100, count: nil, rate: nil)
        #expect(take(&timed, at: 99, room: 2) == [99, 99] && timed.nextTime(at: 99) == 100)
        #expect(take(&timed, at: 100) == [] && timed.isOver(at: 100) && timed.overdue(at: 200) == 0)
    }

    @Test("counts requests without room as overdue, but not those sent a little after the end")
    func overdue() {
        var schedule = LoadSchedule(begin: 0, length: Self.second, count: nil, rate: 10)
        #expect(take(&schedule, at: Self.second / 2, room: 2).count == 2)
        #expect(schedule.overdue(at: Self.second / 2) == 4, "of those at 0, 0.1, ... 0.5 s")
        #expect(schedule.isOver(at: Self.second + 1) && schedule.overdue(at: Self.second + 1) == 8)
        #expect(take(&schedule, at: Self.second + 1).count == 8, "the one at 1 s is not meant to be sent")
        #expect(schedule.overdue(at: Self.second + 1) == 0)
        let few = LoadSchedule(begin: 0, length: nil, count: 4, rate: 10)
        #expect(few.overdue(at: 100 * Self.second) == 4)
    }

    private func figures(_ rate: Double? = nil) -> LoadFigures {
        var figures = LoadFigures(LoadFigures.Setup(connections: 2, pipeline: 16, rate: rate))
        figures.length = .seconds(2)
        return figures
    }

    private func add(_ reply: String, _ milliseconds: Int64?, to figures: inout LoadFigures) {
        figures.sent += milliseconds == nil ? 0 : 1
        figures.add(reply: Array(reply.utf8), latency: milliseconds.map { $0 * 1_000_000 })
    }

    @Test("counts replies: accepted, refused by code, and unexpected ones")
    func replies() throws {
        var figures = figures()
        for seq in [8, 7, 9] { add(#"{"ok":true,"seq":\#(seq)}"#, 2, to: &figures) }
        #expect(figures.isGood && figures.numbers == SequenceNumber(7)...SequenceNumber(9) && figures.rate == 1.5)
        add(#"{"ok":false,"error":{"code":"overloaded"}}"#, 4, to: &figures)
        add(#"{"ok":false,"error":{"code":"overloaded"}}"#, 4, to: &figures)
        add(#"{"ok":false,"error":{"code":"invalid_value"}}"#, 4, to: &figures)
        add(#"{"ok":true,"seq":10,"rejected":[{}]}"#, 4, to: &figures)
        add("no JSON", nil, to: &figures)
        figures.sent += 5
        #expect(!figures.isGood && figures.accepted == 4 && figures.unanswered == 5)
        let json = try JSONDocument(scanning: figures.json).root
        #expect(json["errors"]?["overloaded"]?.int64 == 2 && json["errors"]?["invalid_value"]?.int64 == 1)
        #expect(json["refused"]?.int64 == 3 && json["rejected"]?.int64 == 1 && json["stray_replies"]?.int64 == 1)
        #expect(json["unanswered"]?.int64 == 5 && json["latency_from"]?.string == "sent")
        #expect(json["latency"]?["max_ms"]?.int64 == 4 && json["outcomes"]?.kind == .null)
        #expect(figures.text.contains("Refused              3: invalid_value 1, overloaded 2\n"))
        #expect(figures.text.contains("Unanswered           5: "))
    }

    @Test("reports the outcomes of the requests, or why they are unknown")
    func outcomes() throws {
        var figures = figures(500)
        var report = ComplianceReport(mode: .device, budget: .seconds(9))
        for row in [row(1, .handled), row(2, .timedOut), row(3, nil)] { report.add(unordered: row) }
        figures.outcomes = report
        #expect(figures.text.contains("Outcomes             handled 1, timed_out 1, in flight 1\n"))
        #expect(!figures.text.contains("Refused") && !figures.text.contains("Overdue"))
        #expect(figures.text.contains("Deadline compliance  50.0 %  (due 2, missed 1)\n"))
        let json = try JSONDocument(scanning: figures.json).root
        #expect(json["outcomes"]?["timed_out"]?.int64 == 1 && json["missed"]?.int64 == 1)
        #expect(json["rate"]?.double == 500 && json["latency_from"]?.string == "meant")
        figures.outcomesProblem = "no ledger"
        #expect(figures.text.contains("Outcomes             not known: no ledger\n"))
    }
}
