import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("A crash in a scenario")
struct CrashTests {
    private let slow =
        #"{"op":"deliver","id":"slow","at":0,"device":"a","payload":{"k":"v"},"script":{"takes_ms":5000}}"#
    private let next = #"{"op":"deliver","id":"next","at":1,"device":"a","payload":{"k":"v"},"script":{"takes_ms":10}}"#

    @Test("fails running handlers, unless they are idempotent, and recovers waiting invocations")
    func takesUp() throws {
        let lines = [slow, next, #"{"at":1000,"crash":{"down_ms":500}}"#]
        #expect(try outcomes(lines) == ["1 failed 1500 daemon_crashed", "2 handled 1510"])
        #expect(try outcomes(lines, idempotent: true) == ["1 handled 6500", "2 handled 6510"])
    }

    @Test("expires invocations without time left: the daemon was down too long, or the machine rebooted")
    func expires() throws {
        for crash in [#"{"at":1000,"crash":{"down_ms":9000}}"#, #"{"at":1000,"crash":{"reboot":true}}"#] {
            let time = crash.contains("reboot") ? 1000 : 10_000
            #expect(try outcomes([slow, crash], idempotent: true) == ["1 expired \(time) daemon_down"])
        }
    }

    @Test("loses no row of the tracker, and repeats no number")
    func remembers() throws {
        let push = #"{"op":"deliver","at":0,"device":"a","payload":{"_ab":"true","t":"T","a":"A","cid":"c"}}"#
        let lines = [push, #"{"at":10,"crash":{}}"#, #"{"op":"interact","kind":"opened","at":20,"message":1}"#]
        let opens = try simulate(lines).filter { $0["event_type"]?.string?.hasSuffix(".Open") == true }
        #expect(opens.count == 1)
        #expect(try simulate(lines).compactMap { $0["seq"]?.int64 }.max() == 2)
    }

    @Test("reports the error of its line, and of a request while the daemon is down")
    func errors() throws {
        let cases = [
            (#"{"crash":{}}"#, "at is missing"), (#"{"at":5,"crash":{"down":1}}"#, "crash has down_ms and reboot"),
            (#"{"at":5,"crash":true}"#, "crash is an object"), (#"{"at":5,"crash":{},"id":"x"}"#, "only at beside it"),
            (#"{"at":5,"crash":{"down_ms":-1}}"#, "from 0 to 86400000"),
            (#"{"at":5,"crash":{"reboot":1}}"#, "reboot is true or false"),
            (#"{"at":-5,"crash":{}}"#, "at is RFC 3339 or Unix milliseconds"),
        ]
        for (line, message) in cases {
            let error = try #require(simulate([line]).first?["error"]?["message"]?.string)
            #expect(error.contains(message))
        }
        let down = try simulate([#"{"at":0,"crash":{"down_ms":100}}"#, #"{"op":"deliver","at":99,"payload":{}}"#])
        #expect(down.first?["error"]?["message"]?.string?.contains("the daemon is down and takes no requests") == true)
    }

    @Test("may stand in a scenario with expectations")
    func scenario() throws {
        let lines = [
            slow, #"{"at":1000,"crash":{}}"#,
            #"{"expect":{"id":"slow","outcome":"failed","reason":"daemon_crashed","queue_ms":0}}"#,
        ]
        let scenario = try Scenario(lines.map { Array($0.utf8) })
        let checks = scenario.run(table: table(idempotent: false), tracker: Self.tracker).checks
        #expect(checks.map(\.failure) == [nil])
    }

    @Test("keeps the mode: the mode of the first line applies to a simulation, unless another is given")
    func mode() throws {
        let lines = [
            #"{"scenario":"relay","mode":"relay"}"#,
            #"{"op":"deliver","at":0,"payload":{"k":"v"},"script":{"exit":75,"takes_ms":1}}"#,
        ]
        let relay = try outcomes(lines)
        #expect(relay.count == 1 && relay[0].hasPrefix("1 failed "), "\(relay)")
        #expect(relay[0].contains(" times; the handler asked for another retry, but no time was left"), "\(relay)")
        var device = Simulator(table: table(idempotent: false), tracker: Self.tracker, mode: .device)
        let output = lines.flatMap { device.take(Array($0.utf8), number: 1) } + device.finish()
        #expect(output.count == 1 && String(decoding: output[0], as: UTF8.self).contains(#""outcome":"failed""#))
        #expect(try simulate([#"{"scenario":"x","mode":"fast"}"#]).first?["error"]?["field"]?.string == "mode")
    }

    private static let tracker = Tracker(stateID: UUID128(high: 0, low: 0))

    private func table(idempotent: Bool) -> RoutingTable {
        .testing(handlers: [.exec("crm", idempotent: idempotent)])
    }

    private func simulate(_ lines: [String], idempotent: Bool = false) throws -> [JSONNode] {
        var simulator = Simulator(table: table(idempotent: idempotent), tracker: Self.tracker)
        var output: [[UInt8]] = []
        for (index, line) in lines.enumerated() { output += simulator.take(Array(line.utf8), number: index + 1) }
        output += simulator.finish()
        return try output.map { try JSONDocument(scanning: $0).root }
    }

    private func outcomes(_ lines: [String], idempotent: Bool = false) throws -> [String] {
        try simulate(lines, idempotent: idempotent).map { line in
            let reason = line["reason"]?.string.map { " \($0)" } ?? ""
            return "\(line["seq"]?.int64 ?? 0) \(line["outcome"]?.string ?? "?") \(line["at"]?.int64 ?? 0)\(reason)"
        }
    }
}
