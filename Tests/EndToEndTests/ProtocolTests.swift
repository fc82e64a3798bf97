import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("The inject socket", .timeLimit(.minutes(30)))
struct ProtocolTests {
    private let installation = Installation()
    private let daemon: DaemonProcess
    private let client: Client

    init() throws {
        daemon = try DaemonProcess.ready(installation)
        client = try installation.injectClient()
    }

    @Test("answers an accepted request with its number and its id, byte for byte")
    func acceptedBytes() throws {
        #expect(
            try client.ask(Requests.deliver(id: "a1", waits: false)).description == #"{"ok":true,"seq":1,"id":"a1"}"#)
        #expect(try client.ask(Requests.deliver(waits: false)).description == #"{"ok":true,"seq":2}"#)
    }

    @Test("answers a wrong request with one error and its id, byte for byte, and stays open")
    func refusedBytes() throws {
        let reply = try client.ask(#"{"op":"delver","id":"a1"}"#)
        #expect(
            reply.description
                == #"{"ok":false,"id":"a1","error":{"code":"unknown_op","field":"op","#
                + #""message":"inject.sock takes deliver, interact, session, token, log, topic, publish, device, topics or resolve","retry":false}}"#
        )
        #expect(try client.ask(Requests.deliver(waits: false)).isAccepted)
    }

    @Test("sends the outcome after the reply to a waiting client, with every member in its place")
    func outcomeLine() throws {
        #expect(try client.ask(Requests.deliver(id: "w")).isAccepted)
        let line = try client.next()
        let start =
            #"{"seq":1,"id":"w","n":0,"callback":"onMessageReceived","handler":"journal","outcome":"handled","queue_ms":"#
        let end = #","completion":{"by":"default","times":1,"result":"noData"}}"#
        #expect(line.description.hasPrefix(start) && line.description.hasSuffix(end), "\(line)")
        #expect(line.executionMilliseconds >= 0 && line.totalMilliseconds >= line.executionMilliseconds)
        #expect(!line.isReply)
    }

    @Test("sends one outcome for each invocation of a request")
    func severalOutcomes() throws {
        #expect(try client.ask(Requests.deliver(Requests.twoCallbacks)).isAccepted)
        let lines = [try client.next(), try client.next()].sorted { ($0.n ?? -1) < ($1.n ?? -1) }
        #expect(lines.map(\.n) == [0, 1])
        #expect(lines.map(\.outcome) == ["handled", "handled"])
        #expect(Set(lines.map { $0["callback"]?.string }) == ["willPresent", "didReceiveRemoteNotification"])
    }

    @Test("replies in the order of the requests, regardless of their kinds and of waiting clients")
    func keepsOrder() throws {
        var generator = SeededGenerator(seed: 41)
        let count = 400
        // The expected reply: the id of an accepted request, or the code of an error.
        var expected: [String] = []
        var text = ""
        for index in 0..<count {
            let id = "r\(index)"
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: (text, expected) = (text + "{\"op\":\n", expected + ["invalid_json"])
            case 1: (text, expected) = (text + #"{"op":"deliver"}"# + "\n", expected + ["missing_key"])
            case 2: (text, expected) = (text + Requests.deliver(waits: false) + "\n", expected + ["accepted"])
            case 3: (text, expected) = (text + Requests.deliver(id: id) + "\n", expected + [id])
            case 4: (text, expected) = (text + Requests.braze(message: id, id: id, device: "d") + "\n", expected + [id])
            default: (text, expected) = (text + Requests.deliver(id: id, waits: false) + "\n", expected + [id])
            }
        }
        try client.send(Array(text.utf8))
        client.finishSending()
        var replies: [Line] = []
        var acknowledged: Set<Int64> = []
        while let bytes = try client.receiveLine(timeoutMilliseconds: patience) {
            let line = try Line(bytes)
            if line.isReply { replies.append(line) }
            if line.isAccepted { acknowledged.insert(try #require(line.seq)) }
            if !line.isReply { #expect(acknowledged.contains(line.seq ?? 0), "an outcome before its reply: \(line)") }
        }
        #expect(replies.map { $0.errorCode ?? $0.id ?? "accepted" } == expected)
        let numbers = replies.compactMap(\.seq)
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
    }

    @Test("ignores empty lines and accepts CR LF as the end of a line")
    func emptyLines() throws {
        try client.send(Array("\n\r\n\n\(Requests.deliver(id: "crlf", waits: false))\r\n\r\n".utf8))
        #expect(try client.next().id == "crlf")
        try client.leave()
    }

    @Test("answers a last line without a line feed when the client has finished sending, then closes")
    func unterminatedLine() throws {
        try client.send(Array(Requests.deliver(id: "last").utf8))
        client.finishSending()
        #expect(try client.next().isAccepted)
        #expect(try client.next().outcome == "handled")
        #expect(try client.isAtEnd())
    }

    @Test("takes a request that arrives byte by byte")
    func byteByByte() throws {
        for byte in Array(Requests.deliver(id: "slow", waits: false).utf8) + [UInt8(ascii: "\n")] {
            try client.send([byte])
        }
        #expect(try client.next().id == "slow")
    }

    @Test("keeps serving when clients leave in the middle of anything")
    func abruptClients() throws {
        for index in 0..<50 {
            let rude = try installation.injectClient()
            let line = Requests.deliver(id: "rude\(index)") + "\n"
            try rude.send(Array(line.utf8.prefix(index * 3)))
            if index.isMultiple(of: 2) { try rude.send(Array((line + line).utf8)) }
        }
        #expect(try client.ask(Requests.deliver(waits: false)).isAccepted)
        try installation.waitUntilIdle()
        try waitUntil("the daemon has let go of them") {
            try DaemonStatus(of: installation).number("inject_connections") == 1
        }
    }
}
