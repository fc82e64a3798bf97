import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Custom data and a model that keeps all in one array")
struct ModelTests {
    @Test("agree on random histories, with restarts in between")
    func agreement() throws {
        for seed in Search.seeds(400) {
            var history = RandomHistory(seed: seed)
            guard try history.run(steps: 100) != nil else { continue }
            // Repeats the history, this time with a log.
            var repeated = RandomHistory(seed: seed, isLogged: true)
            Issue.record("seed \(seed): \(try repeated.run(steps: 100) ?? "")")
            return
        }
    }
}

/// Random requests to custom data, with restarts, and to the model, without restarts.
private struct RandomHistory {
    private var random: SeededGenerator
    private var data: CustomData
    private var model: CustomDataModel
    private var rows = CustomDataRows()
    private var now: Int64 = 1_700_000_000_000
    private var request: Int64 = 0
    private let isLogged: Bool
    private var log: [String] = []
    private let runs = [CustomDataBench.forwarder, UUID128(high: 8, low: 8)]

    init(seed: UInt64, isLogged: Bool = false) {
        self.isLogged = isLogged
        random = SeededGenerator(seed: seed)
        var rules = CustomDataRules()
        data = CustomData(stateID: CustomDataBench.stateID)
        model = CustomDataModel(rules: rules)
        rules.eventTime = Bool.random(using: &random) ? .saved : .flushed
        rules.onUnknown = Bool.random(using: &random) ? .hold : .retry
        rules.sendsFlushed = Bool.random(using: &random)
        rules.pendingMax = pick([8, 1000])
        data = CustomData(stateID: CustomDataBench.stateID, rules: rules)
        model = CustomDataModel(rules: rules)
    }

    /// The first difference; `nil` if there is none.
    mutating func run(steps: Int) throws -> String? {
        for _ in 0..<steps {
            // Some steps set the clock back.
            now += pick([0, 0, 1, 1000, 60_000, -500])
            var output = CustomDataOutput()
            let (said, expected) = try step(into: &output)
            rows.write(output.records)
            defer { model.clear() }
            let violation = rows.violations.first ?? ""
            if said != expected || output.events != model.events || moves(output) != model.moves
                || entries(output) != model.entries || data.summary != model.summary
                || data.unknownEntries != model.unknownEntries || !violation.isEmpty
            {
                return """
                    \(log.suffix(30).joined(separator: "\n"))
                    \(violation)
                    custom data: \(said) \(output) \(data.summary)
                    model:       \(expected) \(model.entries) \(model.moves) \(model.events) \(model.summary)
                    """
            }
            guard Int.random(in: 0..<10, using: &random) == 0 else { continue }
            note("restart")
            model.restart()
            data = rows.restored(stateID: CustomDataBench.stateID, rules: data.rules)
        }
        return nil
    }

    private mutating func note(_ step: @autoclosure () -> String) { if isLogged { log.append(step()) } }

    private func moves(_ output: CustomDataOutput) -> [EntryMove] {
        output.records.compactMap { if case .moved(let move) = $0 { move } else { nil } }
    }

    private func entries(_ output: CustomDataOutput) -> [CustomEntry] {
        output.records.compactMap { if case .entry(let entry, _, _) = $0 { entry } else { nil } }
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    /// One step of both, and the result of each.
    private mutating func step(into output: inout CustomDataOutput) throws -> (String, String) {
        let wall = WallTime(milliseconds: now)
        request += 1
        switch Int.random(in: 0..<14, using: &random) {
        case 0..<5: return try logEvent(now: wall, into: &output)
        case 5..<7:
            let session = SessionStart(
                cause: pick([SequenceNumber(request), SequenceNumber(request), nil]), platform: pick([.android, .ios]),
                app: pick(["shop", "news", nil]), device: pick(["phone", "tablet", nil]),
                externalID: pick(["u1", "u2", nil]), at: WallTime(milliseconds: now - pick([0, 5000])))
            let suite = pick([nil, nil, "standard", "group"])
            note("flush \(session) \(suite ?? "-")")
            return (
                "\(data.flush(session, suite: suite, now: wall, into: &output))",
                "\(model.flush(session, suite: suite, now: wall))"
            )
        case 7..<9:
            let (run, limit, bytes) = (pick(runs + [runs[0]]), pick([0, 1, 3, 100]), pick([0, 20, 1000]))
            let isReserving = Bool.random(using: &random)
            note("claim \(run) \(limit) \(bytes) \(isReserving)")
            let claimed = data.claim(
                by: run, isReserving: isReserving, limit: limit, bytes: bytes, now: wall, into: &output)
            let expected = model.claim(by: run, isReserving: isReserving, limit: limit, bytes: bytes, now: wall)
            return ("\(claimed.map(\.number)) whole: \(claimed == expected)", "\(expected.map(\.number)) whole: true")
        case 9, 10:
            let (number, run) = (anyNumber(), pick(runs + [runs[0]]))
            let state: EntryState = pick([.sent, .sent, .rejected, .unknown, .queued, .queued])
            note("settle \(number) \(state) by \(run)")
            return (
                "\(data.settle(number, state, reason: "r", by: run, now: wall, into: &output))",
                "\(model.settle(number, state, reason: "r", by: run, now: wall))"
            )
        case 11, 12:
            let (number, run) = (anyNumber(), pick(runs + [runs[0]]))
            note("depart \(number) by \(run)")
            return (
                "\(data.depart([number], by: run, now: wall, into: &output) == [number])",
                "\(model.depart(number, by: run, now: wall))"
            )
        default: return resolveOrReset(now: wall, into: &output)
        }
    }

    private mutating func logEvent(
        now wall: WallTime, into output: inout CustomDataOutput
    ) throws -> (String, String) {
        let name = "e\(request)"
        let properties = #"{"a":\#(pick(["1", "[1,2,3]", "2.50"]))}"#
        let destination: EntryDestination = pick([
            .stored(suite: "standard"), .stored(suite: "group"), .stored(suite: "group", brazeID: "b2"),
            .sent(.brazeID("b1")), .sent(.externalID("u1")),
            .sent(.alias(name: "n", label: "l")),
        ])
        let source = EntrySource(
            cause: SequenceNumber(request), destination: destination, platform: pick([.android, .ios]),
            app: pick(["shop", "news", nil]), device: pick(["phone", "tablet", nil]),
            externalID: pick(["u1", "u2", nil, nil]), at: WallTime(milliseconds: now - pick([0, 0, 3000, -3000])))
        note("log \(name) \(source)")
        let json = #"{"name":"\#(name)","properties":\#(properties)}"#
        let object = try JSONDocument(scanning: Array(json.utf8)).root
        return (
            "\(data.log(.customEvent, object, source, now: wall, into: &output).isEmpty)",
            "\(model.log(name, properties, source, now: wall))"
        )
    }

    private mutating func resolveOrReset(
        now wall: WallTime, into output: inout CustomDataOutput
    ) -> (String, String) {
        if Bool.random(using: &random) {
            let (number, state) = (anyNumber(), pick([EntryState.queued, .discarded]))
            note("resolve \(number) \(state)")
            return (
                "\(data.resolve([number], state, now: wall, into: &output) == 1)",
                "\(model.resolve(number, state, now: wall))"
            )
        }
        let (suite, app) = (pick(["standard", "group"]), pick(["shop", nil]))
        note("reset \(suite) \(app ?? "-")")
        return (
            "\(data.reset(suite: suite, app: app, now: wall, into: &output))",
            "\(model.reset(suite: suite, app: app, now: wall))"
        )
    }

    /// Usually one of the last few entries.
    private mutating func anyNumber() -> EntryNumber {
        EntryNumber(max(1, data.lastNumber.value - pick([0, 1, 2, 3, 5, 8, 13, 20])))
    }
}
