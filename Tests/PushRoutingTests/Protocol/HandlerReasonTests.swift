import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The reason of a failure is the handler's own")
struct HandlerReasonTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// The answer of a unit of a program apart: the program's lines, then the line of `ExecStopPost=`.
    private func answerOfUnit(_ output: String, exitStatus: Int32) throws -> HandlerAnswer {
        let status = HandlerAnswer.Status(exitStatus: exitStatus)
        let reason = status == .rejected ? "exit status \(exitStatus)" : ""
        var earlier = RunLines()
        let last = #"{"status":"\#(status.rawValue)","reason":"\#(reason)"}"#
        for line in output.split(separator: "\n").map(String.init) + [last] {
            guard !earlier.take(Self.bytes(line)) else { continue }
            return try LineAnswer(Self.bytes(line), toOnly: 1, after: earlier).answer
        }
        Issue.record("the last line is no answer")
        return .declined
    }

    @Test(
        "an exec handler and its unit give the same answer for any output without a status",
        arguments: [
            (#"{"result":"newData"}"#, 0), ("", 0), ("chatter\n{\"result\":\"newData\"}\nmore", 0),
            (#"{"options":["banner"],"result":"noData"}"#, 0), ("boom: no database", 1), ("", 3), ("wait", 75),
            (#"{"result":"failed","reason":"no database"}"#, 1),
            (#"{"result":"newData"}"#, 80), ("first\nsecond", 2),
        ])
    func agreement(output: String, exitStatus: Int32) throws {
        let exec = HandlerAnswer(exitStatus: exitStatus, output: Self.bytes(output), discarded: 0)
        var unit = try answerOfUnit(output, exitStatus: exitStatus)
        // The answer of a unit also has the status of its last line.
        if case .handled(var content) = unit {
            content.status = nil
            if output.isEmpty { content.times = 0 }
            unit = .handled(content)
        }
        #expect(unit == exec)
    }

    @Test("the answer of the guide's example is handled in a unit, with its result")
    func example() throws {
        let answer = try answerOfUnit(#"{"result":"newData"}"#, exitStatus: 0)
        guard case .handled(let content) = answer else { return #expect(Bool(false), "\(answer)") }
        #expect(content.result == .newData && content.times == 1 && content.remarks == [])
    }

    @Test("the last line of standard error is the reason of a failure, on one line and bounded")
    func errors() {
        func answer(_ errors: String, _ status: Int32 = 1, output: String = "") -> HandlerAnswer {
            HandlerAnswer(
                exitStatus: status, output: Self.bytes(output), discarded: 0, errors: ErrorOutput(Self.bytes(errors)))
        }
        #expect(answer("Traceback:\nKeyError: 'order'\n \n") == .rejected(reason: "exit status 1: KeyError: 'order'"))
        #expect(answer("later", 75) == .retry(after: nil, reason: "later"))
        let said = answer("boom", output: #"{"status":"rejected","reason":"no such order"}"#)
        #expect(said == .rejected(reason: "exit status 1: no such order"))
        #expect(answer("") == .rejected(reason: "exit status 1"))
        let long = answer(String(repeating: "a", count: 2000) + String(repeating: "z", count: 2000))
        guard case .rejected(let reason) = long else { return #expect(Bool(false), "\(long)") }
        #expect(reason.utf8.count < 400 && reason.hasPrefix("exit status 1: aaa") && reason.hasSuffix("zzz"))
        #expect(answer("a\u{1B}[31mred\u{202E}x") == .rejected(reason: "exit status 1: a [31mred\u{FFFD}x"))
        guard case .handled(let content) = answer("warning", 0) else { return #expect(Bool(false), "not handled") }
        #expect(content.reason == nil && content.remarks.isEmpty)
    }

    @Test("standard output that is no answer is never a reason: it may have parts of the payload")
    func output() throws {
        for status: Int32 in [1, 75, 255] {
            let exec = HandlerAnswer(exitStatus: status, output: Self.bytes("Dear Anna\n"), discarded: 0)
            #expect(!"\(exec)".contains("Anna"))
            #expect(!"\(try answerOfUnit("Dear Anna", exitStatus: status))".contains("Anna"))
        }
    }

    @Test("after a retry the handler's reason follows the general one in any outcome")
    func retry() throws {
        var device = Bench(.testing())
        try device.submit(.deliver())
        device.started(1)
        device.finished(1, 0, .retry(after: nil, reason: "HTTP status 503: down"))
        #expect(
            device.end(1)?.reason
                == "the handler asked for a retry; device mode does not retry (Mode=): HTTP status 503: down")

        let handler = Handler(name: "crm", kind: .exec(.init(arguments: ["/x"])), retries: 0)
        var relay = Bench(.testing(.relay, handlers: [handler]))
        try relay.submit(.deliver())
        relay.started(1)
        relay.finished(1, 0, .retry(after: .zero, reason: "no database"))
        #expect(relay.end(1)?.reason == "the handler asked for another retry after 0 (Retry=): no database")
    }

    @Test("signals have their names, and their usual meanings")
    func signals() throws {
        for (signal, text) in [
            (Int32(11), "ended by signal 11 (SIGSEGV)"),
            (5, "ended by signal 5 (SIGTRAP: often MemoryDenyWriteExecute=)"), (42, "ended by signal 42"),
        ] {
            var bench = Bench()
            try bench.submit(.deliver())
            bench.started(1)
            bench.finished(1, 0, .signaled(signal))
            #expect(bench.end(1)?.reason == text)
        }
    }

    @Test("a worker's line in place of an answer is in the reason at the deadline")
    func insteadOfAnswer() throws {
        for (seen, told) in [("it has never written a line", ": it has never written a line"), (nil, "")] {
            var bench = Bench()
            try bench.submit(.deliver())
            bench.started(1)
            bench.handle(.observed(InvocationID(1), RunFacts(insteadOfAnswer: "something else")))
            bench.handle(.observed(InvocationID(1), RunFacts(insteadOfAnswer: seen)))
            bench.at(.seconds(9))
            bench.clock()
            #expect(bench.end(1)?.reason == "not finished at the deadline\(told)")
        }
    }

    @Test("processes that a handler left, and that were killed, are in the reason")
    func leftBehind() throws {
        var bench = Bench()
        try bench.submit(.deliver())
        bench.started(1)
        bench.handle(.observed(InvocationID(1), RunFacts(hasLeftProcesses: true)))
        bench.finished(1, 0, .handled(.init()))
        #expect(bench.end(1)?.reason == "the daemon killed processes that the handler left behind")
        #expect(bench.outcome(1) == .handled && bench.end(1)?.reasonCode == .handledWithRemarks)
    }
}
