import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite("A request with an id", .timeLimit(.minutes(30)))
struct IdempotencyTests {
    private let installation = Installation("[Daemon]\nInjectSocketMode=0666\n")

    @Test("gets the first reply again, on any connection, and is done once")
    func repeatsReply() throws {
        installation.addJob("count", "echo $PUSH_SEQ >>$ROOT/runs")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let request = Requests.deliver(job: "count", id: "a")
        let first = try client.ask(request)
        #expect(try client.next().outcome == "handled")
        for _ in 0..<3 {
            #expect(try client.ask(request).description == first.description)
            #expect(try client.next().outcome == "handled")
            // A client that does not wait gets no number of outcomes.
            let reply = try installation.injectClient().ask(Requests.deliver(job: "count", id: "a", waits: false))
            #expect(first.description == #"{"ok":true,"seq":1,"id":"a","outcomes":1}"#)
            #expect(reply.description == #"{"ok":true,"seq":1,"id":"a"}"#)
        }
        #expect(readFile(installation.root + "/runs") == Array("1\n".utf8))
        #expect(try client.ask(Requests.deliver(waits: false)).seq == 2)
    }

    @Test("gets the same outcome line again, byte for byte, also from the next daemon")
    func repeatsOutcome() throws {
        let request = Requests.deliver(id: "a")
        let outcome: Line
        do {
            let daemon = try DaemonProcess.ready(installation)
            outcome = try installation.injectClient().outcome(of: request)
            #expect(try installation.injectClient().outcome(of: request).description == outcome.description)
            #expect(try daemon.stop() == .exited(0))
        }
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        #expect(try installation.injectClient().outcome(of: request).description == outcome.description)
        #expect(try installation.injectClient().ask(Requests.deliver(id: "b", waits: false)).seq == 2)
    }

    @Test("that waits for the ledger blocks others with that id meanwhile, on any connection")
    func whileItWaits() throws {
        let daemon = try DaemonProcess.ready(installation)
        let (first, second) = (try installation.injectClient(), try installation.injectClient())
        for number in 1...40 {
            let tap = Requests.open(
                #""message":"nobody's","platform":"android","app":"a","device":"d""#, id: "t\(number)"
            )
            .replacing(#","wait":"outcome""#, with: "").replacing(#""wait":"outcome","#, with: "")
            try first.send(line: tap)
            try second.send(line: number % 2 == 0 ? tap : Requests.deliver(id: "t\(number)", waits: false))
            let replies = [try first.next(), try second.next()]
            if number % 2 == 0 {
                #expect(replies.allSatisfy(\.isAccepted) && replies[0].seq == replies[1].seq, "\(replies)")
            } else {
                #expect(replies.filter(\.isAccepted).count == 1, "\(replies)")
                #expect(replies.filter { $0.errorCode == "id_conflict" }.count == 1, "\(replies)")
            }
        }
        #expect(try daemon.stop() == .exited(0))
        #expect(try installation.ledger().highestSequenceNumber().value == 40)
    }

    @Test("sent many times in one write gets the same reply to each, each before its outcome")
    func pipelined() throws {
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let times = 20
        try client.send(Array(String(repeating: Requests.deliver(id: "same") + "\n", count: times).utf8))
        client.finishSending()
        let lines = try client.all()
        let replies = lines.indices.filter { lines[$0].isReply }
        let outcomes = lines.indices.filter { !lines[$0].isReply }
        #expect(zip(replies, outcomes).allSatisfy { $0 < $1 }, "an outcome came before its reply")
        #expect(lines.count == 2 * times)
        #expect(Set(lines.filter(\.isReply).map(\.description)) == [#"{"ok":true,"seq":1,"id":"same","outcomes":1}"#])
        #expect(Set(lines.filter { !$0.isReply }.map(\.description)).count == 1)
    }

    @Test("has 1,000 waiting clients at most, because one turn answers all; a further one may retry later")
    func manyWait() throws {
        let gate = Messages(installation.root + "/gate")
        installation.addJob("gate", "read line <$ROOT/gate")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let request = Requests.deliver(job: "gate", id: "same")
        let times = 1001
        try client.send(Array(String(repeating: request + "\n", count: times).utf8))
        let replies = try (0..<times).map { _ in try client.next() }
        #expect(replies.dropLast().allSatisfy { $0.isAccepted })
        #expect(try #require(replies.last).errorCode == "overloaded")
        gate.send()
        let outcomes = try (0..<times - 1).map { _ in try client.next() }
        #expect(outcomes.allSatisfy { $0.outcome == "handled" })
    }

    @Test("sent by several clients at once is accepted once")
    func concurrent() throws {
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let clients = try (0..<10).map { _ in try installation.injectClient() }
        for round in 0..<20 {
            let request = Requests.braze(message: "m\(round)", id: "r\(round)")
            for client in clients { try client.send(line: request) }
            var numbers: Set<Int64> = []
            for client in clients {
                numbers.insert(try #require(try client.next().seq))
                #expect(try client.next().outcome == "handed_to_tracker")
            }
            #expect(numbers == [Int64(round + 1)])
        }
    }

    @Test("repeated while it runs waits for the outcome of that run")
    func repeatedInFlight() throws {
        let gate = Messages(installation.root + "/gate")
        installation.addJob("slow", "echo $PUSH_SEQ >>$ROOT/runs; read line <$ROOT/gate")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let clients = try (0..<3).map { _ in try installation.injectClient() }
        for client in clients { #expect(try client.ask(Requests.deliver(job: "slow", id: "a")).seq == 1) }
        // A client that has left is not waited for.
        let leaving = try installation.injectClient()
        #expect(try leaving.ask(Requests.deliver(job: "slow", id: "a")).seq == 1)
        gate.send()
        let outcomes = try clients.map { try $0.next().description }
        #expect(Set(outcomes).count == 1 && outcomes[0].contains(#""outcome":"handled""#))
        #expect(readFile(installation.root + "/runs") == Array("1\n".utf8))
    }

    @Test("may differ in wait, white space and the order of keys; anything else is a conflict that names the first")
    func conflicts() throws {
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        #expect(try client.ask(#"{"op":"deliver","id":"a","payload":{"data":{"k":"v","n":1.50}}}"#).seq == 1)
        let same = #"{ "payload" : {"data":{"n":1.50,"k":"v"}}, "id":"a", "op":"deliver" }"#
        #expect(try client.ask(same).seq == 1)
        let different = [
            #"{"op":"deliver","id":"a","payload":{"data":{"k":"w","n":1.50}}}"#,
            #"{"op":"deliver","id":"a","payload":{"data":{"k":"v","n":1.50}},"device":"d"}"#,
            #"{"op":"interact","id":"a","kind":"opened","message":"m"}"#,
        ]
        for request in different {
            let reply = try client.ask(request)
            #expect(
                reply.description
                    == #"{"ok":false,"id":"a","error":{"code":"id_conflict","field":"id","#
                    + #""message":"id was used for another request, seq 1","retry":false}}"#)
        }
        #expect(try client.ask(same).seq == 1)
    }

    @Test("in conflict with one of the same write is refused, and the first is unchanged")
    func pipelinedConflict() throws {
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let lines = [Requests.deliver(id: "x", waits: false), Requests.braze(message: "m", id: "x", waits: false)]
        try client.send(Array((lines + lines).map { $0 + "\n" }.joined().utf8))
        let replies = try (0..<4).map { _ in try client.next() }
        #expect(replies.map(\.seq) == [1, nil, 1, nil])
        #expect(replies.map(\.errorCode) == [nil, "id_conflict", nil, "id_conflict"])
    }

    @Test("is another request when another user sends it", .needsRoot)
    func otherUser() throws {
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(id: "a", waits: false)).seq == 1)
        let other = Requests.braze(message: "m", id: "a", waits: false)
        #expect(try ask(other, ofUser: 65_534, at: installation).seq == 2)
        #expect(try ask(other, ofUser: 65_534, at: installation).seq == 2)
        #expect(try client.ask(Requests.deliver(id: "a", waits: false)).seq == 1)
    }

    @Test("that was refused for lack of room is new when it comes again")
    func refusedIsForgotten() throws {
        let installation = Installation("[Dispatch]\nRequestsInFlightMax=1\n")
        let gate = Messages(installation.root + "/gate")
        installation.addJob("slow", "read line <$ROOT/gate")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "slow")).isAccepted)
        #expect(try client.ask(Requests.deliver(id: "a")).errorCode == "overloaded")
        gate.send()
        #expect(try client.next().outcome == "handled")
        #expect(try client.ask(Requests.deliver(id: "a")).seq == 2)
    }

    // The two strings are equal to String and different to the ledger's index.
    @Test("is another request if its id has the same letter in another Unicode form")
    func otherSpelling() throws {
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(try client.ask(Requests.deliver(id: decomposed, waits: false)).seq == 1)
        let refused = #""platform":"android","payload":{"message":{"token":"t","data":{"k":1}}}"#
        try client.send(line: Requests.deliver(refused, id: composed, waits: false))
        try client.send(line: Requests.deliver(id: decomposed, waits: false))
        #expect(try client.next().errorCode == "invalid_payload")
        #expect(try client.next().seq == 1)
        #expect(try client.ask(Requests.deliver(id: composed, waits: false)).seq == 2)
    }
}
