import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

/// The lines of `control.sock` as a forwarder writes them.
private enum Run {
    static let first = "00000000-0000-0000-0000-000000000001"
    static let second = "00000000-0000-0000-0000-000000000002"

    static func claim(_ run: String = first, limit: Int = 100, waits: Bool = false, holding: String? = nil) -> String {
        let holding = holding.map { #","holding":\#($0)"# } ?? ""
        return #"{"op":"claim","instance":"\#(run)","limit":\#(limit),"wait":\#(waits)\#(holding)}"#
    }

    static func settle(_ entries: String) -> String {
        #"{"op":"settle","instance":"\#(first)","entries":[\#(entries)]}"#
    }
}

extension Line {
    /// The numbers of the entries in the answer to a claim.
    fileprivate var entries: [Int64]? { self["entries"]?.elements.compactMap { $0["number"]?.int64 } }
}

extension Installation {
    fileprivate func controlClient() throws -> Client { try Client(path: controlSocket) }

    /// The states of the entries in the ledger, in order of number.
    fileprivate func states() throws -> [EntryState] {
        let reader = try ledger()
        var states: [EntryState] = []
        for number in 1...max(1, Int64(try reader.highestSequenceNumber().value)) {
            states += try reader.story(of: SequenceNumber(number))?.entries.map(\.state) ?? []
        }
        return states
    }
}

/// Returns the request of an app that logs an event, to be sent at once or stored.
private func event(_ name: String = "bought", sent: Bool = true, id: String? = nil) -> String {
    let id = id.map { #""id":"\#($0)","# } ?? ""
    let way = sent ? #""braze_id":"b1","# : ""
    return #"{"op":"log",\#(id)\#(way)"kind":"custom_event","app":"shop","device":"d","name":"\#(name)"}"#
}

@Suite("An app's log requests over the socket", .timeLimit(.minutes(30)))
struct CustomDataTests {
    private let installation = Installation("[Tracker]\nGrace=0\n")

    @Test("are acknowledged with their rejected parts, again on a repeat, and again by the next daemon")
    func rejected() throws {
        let line =
            #"{"op":"log","id":"a","kind":"custom_attributes","app":"shop","device":"d","#
            + #""attributes":{"color":"red","braze_id":"x","a: b.c\n":[[1]]}}"#
        let first: Line
        do {
            let daemon = try DaemonProcess.ready(installation)
            let client = try installation.injectClient()
            first = try client.ask(line)
            #expect(first.isAccepted && first.seq == 1)
            #expect(
                first["rejected"]?.elements.map { $0["field"]?.string }
                    == ["attributes.braze_id", #"attributes."a: b.c\u000a"[0]"#],
                "\(first)")
            #expect(first["rejected"]?.elements.map { $0["entry"]?.int64 } == [2, 3])
            #expect(try client.ask(line).description == first.description)
            daemon.crash()
        }
        let daemon = try DaemonProcess.ready(installation)
        #expect(try installation.injectClient().ask(line).description == first.description)
        #expect(try installation.states() == [.pending, .rejected, .rejected])
        #expect(try daemon.stop() == .exited(0))
    }

    @Test("are flushed once at the next session start, after any crash; no number is given twice")
    func flushed() throws {
        let session = #"{"op":"session","kind":"start","app":"shop","device":"d","external_id":"u1"}"#
        do {
            let daemon = try DaemonProcess.ready(installation)
            #expect(try installation.injectClient().ask(event("first", sent: false)).isAccepted)
            daemon.crash()
        }
        do {
            let daemon = try DaemonProcess.ready(installation)
            let client = try installation.injectClient()
            #expect(try client.ask(event("second", sent: false)).isAccepted)
            #expect(try client.ask(session).isAccepted)
            daemon.crash()
        }
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        #expect(try client.ask(session).isAccepted)
        let reader = try installation.ledger()
        let events = try #require(try reader.story(of: SequenceNumber(3))).events
        #expect(events.map(\.kind) == [.sessionStart, .customEvent, .customEvent])
        #expect(events.compactMap(\.name) == ["first", "second"])
        #expect(try reader.events(after: 0, limit: 100).count { $0.event.kind == .customEvent } == 2)
        #expect(try client.ask(event("third")).isAccepted)
        #expect(try installation.ledger().highestEntryNumber() == EntryNumber(3))
        #expect(try daemon.stop() == .exited(0), "what is not sent holds up nobody")
    }

    @Test("are refused when there is no room, until there is")
    func noRoom() throws {
        installation.write("pushrouterd.conf", "[UsersTrack]\nMaxPending=1\n")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        #expect(try client.ask(event()).isAccepted)
        let refusal = try client.ask(event())
        #expect(refusal.errorCode == "overloaded")
        #expect(refusal.errorMessage?.contains("MaxPending=") == true)
        let forwarder = try installation.controlClient()
        #expect(try forwarder.ask(Run.claim()).entries == [1])
        #expect(try forwarder.ask(Run.settle(#"{"number":1,"state":"sent"}"#)).isAccepted)
        #expect(try client.ask(event()).isAccepted)
    }

    @Test("the forwarder's requests may be longer than RequestLengthMax= allows for producers")
    func shortRequests() throws {
        installation.write("pushrouterd.conf", "[Daemon]\nRequestLengthMax=1K\n")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        for _ in 1...100 { #expect(try client.ask(event()).isAccepted) }
        let forwarder = try installation.controlClient()
        #expect(try forwarder.ask(Run.claim()).entries?.count == 100)
        let reason = String(repeating: #"\""#, count: 1000)
        let entries = (1...100).map { #"{"number":\#($0),"state":"rejected","reason":"\#(reason)"}"# }
        #expect(
            try forwarder.ask(Run.settle(entries.joined(separator: ","))).description == #"{"ok":true,"settled":100}"#)
    }

    @Test("flushing and emptying a suite by order changes the counts in the status")
    func orders() throws {
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        for name in ["a", "b"] { #expect(try client.ask(event(name, sent: false)).isAccepted) }
        #expect(try client.ask(event("c")).isAccepted)
        let control = try installation.controlClient()
        let before = try #require(try DaemonStatus(of: installation)["custom_data"])
        #expect(before["pending"]?.int64 == 2 && before["queued"]?.int64 == 1)
        #expect(before["oldest_unsent_age_ms"]?.int64 ?? -1 >= 0)
        #expect(before["sending"]?.kind == .null && before["forwarder_connected"]?.bool == false)
        #expect(
            try control.ask(#"{"op":"flush","id":"f","app":"shop","device":"d","external_id":"u"}"#).description
                == #"{"ok":true,"id":"f","flushed":2,"protocol":1}"#)
        #expect(try installation.states() == [.flushed, .flushed, .queued])
        #expect(try client.ask(event("d", sent: false)).isAccepted)
        #expect(try control.ask(#"{"op":"reset","suite":"standard"}"#).description == #"{"ok":true,"discarded":1}"#)
        #expect(try control.ask(#"{"op":"reset","suite":"standard"}"#).description == #"{"ok":true,"discarded":0}"#)
    }

    @Test("with SendFlushed=yes, journal, reply and ledger say that entries of a session without a user were not sent")
    func flushedUnsent() throws {
        mkdir(installation.configuration + "/pushrouterd.conf.d", 0o755)
        installation.write(
            "pushrouterd.conf.d/send.conf", "[UsersTrack]\nEndpoint=https://rest.invalid\nSendFlushed=yes\n")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        for name in ["a", "b"] { #expect(try client.ask(event(name, sent: false)).isAccepted) }
        let control = try installation.controlClient()
        #expect(
            try control.ask(#"{"op":"flush","app":"shop","device":"d"}"#).description
                == #"{"ok":true,"flushed":2,"not_sent":2,"protocol":1}"#)
        #expect(try installation.states() == [.flushed, .flushed])
        let reasons = try installation.entries().map(\.reason)
        #expect(reasons.allSatisfy { $0?.contains("the session has no user") == true }, "\(reasons)")
        #expect(try client.ask(event("c", sent: false)).isAccepted)
        #expect(try client.ask(#"{"op":"session","kind":"start","app":"shop","device":"d"}"#).isAccepted)
        #expect(try daemon.stop() == .exited(0))
        let told = daemon.standardError
        #expect(told.contains("2 entries were flushed and not sent to the endpoint, though SendFlushed=yes"), "\(told)")
        #expect(told.contains("1 entry was flushed and not sent to the endpoint, though SendFlushed=yes"), "\(told)")
    }

    @Test("an entry of a track that breaks a rule is reported in the reply, again on a repeat, and counted")
    func rejectedByTracks() throws {
        mkdir(installation.configuration + "/tracks.d", 0o755)
        installation.write(
            "tracks.d/push.track",
            "[Track]\nOn=received opened\n[Identifier]\nKeyValue=braze_id\n[Event]\nNameFrom=occasion\n")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let data = #"{"_ab":"true","cid":"c","t":"T","a":"A","extra":"{\"Braze_id\":\"b1\"}"}"#
        let deliver =
            #"{"op":"deliver","id":"a","platform":"android","app":"shop","device":"d","payload":\#(data)}"#
        let first = try client.ask(deliver)
        #expect(first["rejected"]?.elements.first?["field"]?.string == "braze_id", "\(first.description)")
        #expect(first["rejected"]?.elements.first?["reason_code"]?.string == "not_in_payload")
        #expect(try client.ask(deliver).description == first.description)
        let tap = try client.ask(#"{"op":"interact","kind":"opened","device":"d","app":"shop","message":1}"#)
        #expect(tap["rejected"]?.elements.first?["entry"]?.int64 == 2, "\(tap.description)")
        let status = try #require(try DaemonStatus(of: installation)["custom_data"])
        #expect(status["rejected_since_start"]?.int64 == 2)
        #expect(try daemon.stop() == .exited(0))
        let line = daemon.standardError.split(separator: "\n").first { $0.contains("custom data rejected, entry 1: ") }
        #expect(line?.contains("braze_id: the payload has no key-value braze_id; it has") == true, "\(line ?? "none")")
        #expect(line?.contains("push_reason_code=not_in_payload") == true, "\(line ?? "none")")
    }

    @Test("a push that a track matches queues an entry, and so does a tap that names the push by its id")
    func tracks() throws {
        mkdir(installation.configuration + "/tracks.d", 0o755)
        installation.write(
            "tracks.d/push.track",
            "[Track]\nOn=received opened\n[Identifier]\nKeyValue=braze_id\n[Event]\nNameFrom=occasion\n")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let data = #"{"_ab":"true","cid":"c","t":"T","a":"A","extra":"{\"braze_id\":\"b1\"}"}"#
        let deliver = Requests.deliver(
            #""platform":"android","app":"shop","payload":{"messageId":"m1","data":\#(data)}"#, device: "d",
            waits: false)
        #expect(try client.ask(deliver).isAccepted)
        #expect(try client.outcome(of: Requests.open(#""message":"m1""#)).reason == "direct open of delivery 1")
        let claim = try installation.controlClient().ask(Run.claim())
        let entries = claim["entries"]?.elements ?? []
        #expect(entries.map { $0["name"]?.string } == ["received", "opened"], "\(claim)")
        #expect(entries.map { $0["braze_id"]?.string } == ["b1", "b1"])
    }
}

@Suite("The forwarder over the socket", .timeLimit(.minutes(30)))
struct ForwarderTests {
    private let installation = Installation()

    @Test("a waiting claim is answered when an entry comes, which is on disk as this run's by then")
    func waits() throws {
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let forwarder = try installation.controlClient()
        try forwarder.send(line: Run.claim(waits: true))
        #expect(try installation.injectClient().ask(event()).isAccepted)
        let answer = try forwarder.next()
        #expect(
            answer.description.hasPrefix(
                #"{"ok":true,"entries":[{"number":1,"kind":"custom_event","braze_id":"b1","app":"shop","#
                    + #""name":"bought","data":{},"time":""#), "\(answer)")
        #expect(try installation.states() == [.claimed])
        #expect(try DaemonStatus(of: installation)["custom_data"]?["forwarder_connected"]?.bool == true)
        let settle = Run.settle(#"{"number":1,"state":"sent"},{"number":9,"state":"sent"}"#)
        #expect(try forwarder.ask(settle).description == #"{"ok":true,"settled":1}"#)
        #expect(try installation.states() == [.sent])
        #expect(try forwarder.ask(settle).description == #"{"ok":true,"settled":0}"#)
    }

    @Test("the next request on its connection, or the daemon's end, answers a waiting claim without entries")
    func endsWait() throws {
        let daemon = try DaemonProcess.ready(installation)
        let forwarder = try installation.controlClient()
        try forwarder.send(line: Run.claim(waits: true))
        try forwarder.send(line: #"{"op":"status"}"#)
        #expect(try forwarder.next().entries == [])
        #expect(try forwarder.next()["status"] != nil)
        try forwarder.send(line: Run.claim(waits: true))
        // The reply to another client's request, sent after the claim, proves that the daemon has the claim.
        #expect(try installation.controlClient().ask(#"{"op":"status"}"#).isAccepted)
        daemon.send(SIGTERM)
        #expect(try forwarder.next().entries == [])
        #expect(try forwarder.isAtEnd())
        #expect(try daemon.waitForEnd() == .exited(0))
    }

    @Test("a connection that closes during its claim gets nothing: the entry goes to the next one")
    func goesAway() throws {
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        do {
            let forwarder = try installation.controlClient()
            try forwarder.send(line: Run.claim(waits: true))
            #expect(try installation.controlClient().ask(#"{"op":"status"}"#).isAccepted)
        }
        try waitUntil("the daemon has let go of it") {
            try DaemonStatus(of: installation)["custom_data"]?["forwarder_connected"]?.bool == false
        }
        #expect(try installation.injectClient().ask(event()).isAccepted)
        #expect(try installation.states() == [.queued])
        #expect(try installation.controlClient().ask(Run.claim(Run.second)).entries == [1])
    }

    @Test("one at a time: entries of an earlier run become unknown, appear in the journal, and are sent again on order")
    func unknown() throws {
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        for name in ["secret", "public"] { #expect(try client.ask(event(name)).isAccepted) }
        do {
            let forwarder = try installation.controlClient()
            #expect(try forwarder.ask(Run.claim(limit: 1)).entries == [1])
            let refusal = try installation.controlClient().ask(Run.claim(Run.second))
            #expect(refusal.errorCode == "unavailable")
            #expect(refusal.errorMessage == "another forwarder, pid \(getpid()), is connected")
            let report = #"{"op":"sending","instance":"\#(Run.second)","phase":"stopped","reason":"no key"}"#
            let another = try installation.controlClient().ask(report)
            #expect(another.errorCode == "unavailable", "\(another)")
            #expect(another["error"]?["field"]?.string == "instance")
            let sending = try DaemonStatus(of: installation)["custom_data"]?["sending"]
            #expect(sending?["phase"]?.string == nil, "what another run says of itself is not this one's")
        }
        let next = try installation.controlClient()
        try waitUntil("the first one is gone") {
            let answer = try next.ask(Run.claim(Run.second))
            return answer.entries == [2]
        }
        #expect(try installation.states() == [.unknown, .claimed])
        try waitUntil("the journal says it") {
            daemon.standardError.contains("may or may not have reached the endpoint")
        }
        #expect(!daemon.standardError.contains("secret"))
        #expect(
            try next.ask(#"{"op":"resolve","entries":"all","state":"queued"}"#).description
                == #"{"ok":true,"resolved":1}"#)
        #expect(try next.ask(Run.claim(Run.second)).entries == [1])
    }

    @Test("a run keeps its entries over a crash of the daemon; those in a lost reply are queued again")
    func crash() throws {
        do {
            let daemon = try DaemonProcess.ready(installation)
            for _ in 1...3 { #expect(try installation.injectClient().ask(event()).isAccepted) }
            let forwarder = try installation.controlClient()
            #expect(try forwarder.ask(Run.claim(limit: 2)).entries == [1, 2])
            daemon.crash()
        }
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let forwarder = try installation.controlClient()
        #expect(try forwarder.ask(Run.settle(#"{"number":1,"state":"sent"}"#))["settled"]?.int64 == 1)
        #expect(try forwarder.ask(#"{"op":"peek","after":0,"limit":9}"#).entries == [3])
        #expect(try forwarder.ask(Run.claim(holding: "[]")).entries == [2, 3])
        #expect(try installation.states() == [.sent, .claimed, .claimed])
    }

    @Test(
        "the state of sending is in the status, also of the next daemon; a stop is one error in the journal")
    func sending() throws {
        let report =
            #"{"op":"sending","instance":"\#(Run.first)","phase":"stopped","reason":"the endpoint refuses the key","#
            + #""failures":1}"#
        do {
            let daemon = try DaemonProcess.ready(installation)
            let forwarder = try installation.controlClient()
            #expect(try forwarder.ask(report).description == #"{"ok":true,"protocol":1}"#, "the first reply")
            #expect(try forwarder.ask(report).description == #"{"ok":true}"#)
            #expect(try daemon.stop() == .exited(0))
            let lines = daemon.standardError.split(separator: "\n").filter { $0.contains("has stopped") }
            #expect(lines.count == 1, "\(daemon.standardError)")
            #expect(lines.first?.contains("the endpoint refuses the key") == true)
        }
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let sending = try #require(try DaemonStatus(of: installation)["custom_data"]?["sending"])
        #expect(sending["phase"]?.string == "stopped")
        #expect(sending["reason"]?.string == "the endpoint refuses the key")
        #expect(try installation.controlClient().ask(Run.claim())["sending"]?["phase"]?.string == "stopped")
    }

    @Test("entries that the endpoint rejects appear in the journal by number")
    func refused() throws {
        let daemon = try DaemonProcess.ready(installation)
        #expect(try installation.injectClient().ask(event()).isAccepted)
        let forwarder = try installation.controlClient()
        #expect(try forwarder.ask(Run.claim()).entries == [1])
        let settle = Run.settle(#"{"number":1,"state":"rejected","reason":"no user has the id private"}"#)
        #expect(try forwarder.ask(settle)["settled"]?.int64 == 1)
        #expect(try daemon.stop() == .exited(0))
        #expect(daemon.standardError.contains("the endpoint rejected custom data: entry 1;"))
        #expect(!daemon.standardError.contains("private"))
        let story = try installation.ledger().story(of: SequenceNumber(1))
        #expect(story?.entries.first?.reason == "no user has the id private")
    }
}
