import TestSupport
import Testing

@testable import PushModel

@Suite("pushctl pending --clear", .timeLimit(.minutes(30)))
struct PushctlClearTests {
    private let daemon: TestDaemon

    /// Entries 1 and 2 wait in suites of two apps; entries 3 and 4 are to be sent.
    init() throws {
        daemon = try TestDaemon()
        for (app, way) in [
            ("shop", #""suite":"standard""#), ("news", #""suite":"standard""#), ("shop", #""braze_id":"b""#),
            ("news", #""braze_id":"b""#),
        ] {
            let line = #"{"op":"log",\#(way),"kind":"custom_event","app":"\#(app)","device":"d","name":"n"}"#
            let result = daemon.pushctl("inject", "-", input: line)
            #expect(result.end == .exited(0), "\(result.errors)")
        }
    }

    private func numbers() throws -> [Int64] {
        try json(daemon.pushctl("pending", "--json").output)["entries"]?.elements.compactMap { $0["number"]?.int64 }
            ?? []
    }

    @Test("discards the entries that the filters choose, with --yes")
    func filters() throws {
        #expect(try numbers() == [1, 2, 3, 4])
        let queued = daemon.pushctl("pending", "--clear", "--queued", "--app", "news", "--yes")
        #expect(queued.output == "discarded 1 entry\n", "\(queued.errors)")
        #expect(try numbers() == [1, 2, 3])
        #expect(daemon.pushctl("pending", "--clear", "--stored", "--app", "shop", "--yes").end == .exited(0))
        #expect(try numbers() == [2, 3])
        #expect(try json(daemon.pushctl("pending", "--clear", "--yes", "--json").output)["discarded"]?.int64 == 2)
        #expect(try numbers() == [])
        #expect(daemon.pushctl("pending", "--clear", "--yes").errors == "pushctl: no entry matches the filters\n")
    }

    @Test("repeats its request to the daemon as often as needed, as --discard with many numbers does")
    func pages() throws {
        let line = #"{"op":"log","braze_id":"b","kind":"custom_event","app":"shop","device":"d","name":"n"}"# + "\n"
        #expect(daemon.pushctl("inject", "-", input: String(repeating: line, count: 2500)).end == .exited(0))
        let some = (1005...2504).reversed().map(String.init).joined(separator: ",")
        let discarded = daemon.pushctl("pending", "--discard", some)
        #expect(discarded.output == "discarded 1500 entries\n", "\(discarded.errors)")
        let again = daemon.pushctl("pending", "--discard", "1004," + some, "--json")
        #expect(again.end == .exited(1) && again.output.contains(#""resolved":1"#), "\(again.output)")
        #expect(daemon.pushctl("pending", "--clear", "--queued", "--yes").output == "discarded 1001 entries\n")
        #expect(try numbers() == [1, 2])
    }

    @Test("asks for the number first, and does nothing on another answer", arguments: ["", "yes\n", "3\n"])
    func asks(answer: String) throws {
        let result = daemon.pushctl("pending", "--clear", input: answer)
        #expect(result.end == .exited(1))
        #expect(result.errors.contains("4 entries would be discarded"))
        #expect(try numbers() == [1, 2, 3, 4])
        #expect(daemon.pushctl("pending", "--clear", input: "4\n").output == "discarded 4 entries\n")
    }

    @Test("excludes --rejected and --limit, and --yes needs it")
    func usage() {
        for arguments in [
            ["--clear", "--rejected"], ["--clear", "--limit", "1"], ["--yes"], ["--clear", "--reset", "s"],
        ] {
            #expect(pushctl.run(daemon.options + ["pending"] + arguments).end == .exited(2), "\(arguments)")
        }
    }
}
