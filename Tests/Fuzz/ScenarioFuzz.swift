import PushModel
import PushRouter
import PushSettings
import PushViews

// Fuzzes scenarios, read as by `pushctl test`, with and without `--trace`. Any lines must give errors that name one of them, or a
// run that ends: every decided line is one line of JSON, every invocation ends once, and a second run gives the same.
// Nothing may trap, or take long.

/// The shipped providers, and every kind of route.
private let table: RoutingTable = {
    guard var table = Settings.load(.shipped).settings?.routing else {
        preconditionFailure("what is shipped has errors")
    }
    let orders = RouteMatch(data: [RouteMatch.KeyCondition(key: "k", pattern: nil)])
    table.routes = [
        Route(name: "10-watch", match: RouteMatch(), handler: "watch", budget: .seconds(2), observes: true),
        Route(name: "20-k", match: orders, handler: "k", budget: .seconds(4)),
        Route(name: "30-tokens", match: RouteMatch(callbacks: [.onNewToken, .didRegister]), handler: "tokens"),
        Route(name: "90-all", match: RouteMatch(platforms: [.android, .ios]), handler: "all"),
    ]
    for name in ["watch", "k", "tokens", "all"] { table.handlers[name] = Handler(name: name, kind: .discard) }
    (table.limits.handlers, table.limits.observers) = (2, 1)
    (table.limits.inFlight, table.limits.inFlightPerPeer) = (8, 8)
    return table
}()

private let tracker: Tracker = {
    var rules = TrackerRules()
    rules.rememberMax = 4
    return Tracker(stateID: UUID128(high: 0, low: 0), rules: rules)
}()

@c(LLVMFuzzerTestOneInput)
public func fuzzScenario(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let text = Array(UnsafeBufferPointer(start: start, count: count))
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Array($0) }
    do {
        let scenario = try Scenario(lines)
        let result = scenario.run(table: table, tracker: tracker)
        precondition(result == scenario.run(table: table, tracker: tracker), "two runs")
        for check in result.checks {
            precondition((1...lines.count).contains(check.line), "no such line")
            precondition(!check.expected.isEmpty && check.failure?.message.isEmpty != true, "a check without words")
        }
    } catch {
        precondition(error.line.map((1...lines.count).contains) != false, "no such line")
        precondition(!error.message.isEmpty, "an error that says nothing")
    }
    let output = simulate(lines)
    precondition(output == simulate(lines), "two runs")
    check(output)
    return 0
}

private func simulate(_ lines: [[UInt8]]) -> [[UInt8]] {
    var simulator = Simulator(table: table, tracker: tracker)
    var output: [[UInt8]] = []
    for (index, line) in lines.enumerated() { output += simulator.take(line, number: index + 1) }
    return output + simulator.finish()
}

private func check(_ output: [[UInt8]]) {
    var ended: Set<InvocationID> = []
    for line in output {
        guard !line.contains(UInt8(ascii: "\n")), let root = try? JSONDocument(scanning: line).root else {
            preconditionFailure("not one line of JSON: \(String(decoding: line, as: UTF8.self))")
        }
        switch root["type"]?.string {
        case "invocation":
            guard let seq = root["seq"]?.int64, let n = root["n"]?.int64, let callback = root["callback"]?.string else {
                preconditionFailure("an invocation without its number")
            }
            let id = InvocationID(seq: SequenceNumber(seq), n: Int(n))
            precondition(ended.insert(id).inserted, "an invocation ends twice")
            let isCompleted = (root["completion"]?["times"]?.int64 ?? 0) >= 1
            // The callback of an observer's copy belongs to its owner.
            let isOwed = callback != "none" && root["observer"]?.bool != true
            precondition(isCompleted == isOwed, "not completed, or nothing to complete")
        case "analytics": precondition(root["event_type"]?.string != nil, "an event without a type")
        case "entry", "interaction", "breaker":
            precondition(root["state"]?.string ?? root["verdict"]?.string != nil, "a line that says nothing")
        default: precondition(root["error"]?["message"]?.string?.isEmpty == false, "an error that says nothing")
        }
    }
}
