import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite("pushctl erase", .timeLimit(.minutes(30)))
struct PushctlEraseTests {
    /// All data of Anna contains this text; Ben has the same data with his text.
    private static let (anna, ben) = ("annaXyZZy7731", "benQuUx4418")

    private let daemon: TestDaemon

    /// Two people do the same things: a payload for the tracker and a tap with a typed text, a payload for a handler, a
    /// token, a session, and custom data: waiting, sent, and in the profile.
    init() throws {
        let installation = Installation()
        installation.addJob("work", #"cat >/dev/null; echo "$PUSH_DEVICE" >&2; exit 0"#)
        installation.addJob("slow", "read line < $ROOT/gate; exit 0")
        try #require(mkfifo(installation.root + "/gate", 0o600) == 0)
        daemon = try TestDaemon(installation)
        for person in [Self.anna, Self.ben] { try live(person) }
    }

    private func live(_ name: String) throws {
        let target = #""app":"shop","device":"device-\#(name)","platform":"android""#
        let user = #""external_id":"user-\#(name)""#
        let braze = #""_ab":"true","cid":"campaign","ab_c":"campaign","t":"title-\#(name)","a":"alert-\#(name)""#
        let lines = [
            #"{"op":"log",\#(target),\#(user),"kind":"custom_attributes","suite":"standard","attributes":{"city":"city-\#(name)"}}"#,
            #"{"op":"session","kind":"start",\#(target),\#(user)}"#,
            #"{"op":"token","kind":"new",\#(target),"token":"token-\#(name)"}"#,
            #"{"op":"deliver","id":"id-\#(name)",\#(target),\#(user),"payload":{"message_id":"message-\#(name)","data":{\#(braze)}}}"#,
            #"{"op":"deliver",\#(target),"payload":{"message_id":"other-\#(name)","data":{"job":"work","text":"text-\#(name)"}}}"#,
            #"{"op":"interact","kind":"action","action":"a","text":"typed-\#(name)",\#(target),"message":"other-\#(name)"}"#,
            #"{"op":"interact","kind":"opened",\#(target),"message":"message-\#(name)"}"#,
            #"{"op":"log",\#(target),"kind":"custom_event","suite":"standard","name":"event-\#(name)"}"#,
            #"{"op":"log",\#(target),\#(user),"kind":"custom_event","name":"sent-\#(name)"}"#,
        ]
        let result = daemon.pushctl("inject", "--wait", "-", input: lines.map { $0 + "\n" }.joined())
        try #require(result.end == .exited(0), "\(result.output)\(result.errors)")
    }

    /// Returns the files of the state directory that contain a text.
    private func files(with text: String) -> [String] {
        func search(_ directory: String) -> [String] {
            names(in: directory).flatMap { name -> [String] in
                let path = directory + "/" + name
                guard let bytes = readFile(path) else { return search(path) }
                return contains(bytes, Array(text.utf8)) ? [path] : []
            }
        }
        return search(daemon.installation.state)
    }

    private func contains(_ bytes: [UInt8], _ text: [UInt8]) -> Bool {
        guard let first = text.first else { return true }
        var start = 0
        while let place = bytes[start...].firstIndex(of: first) {
            if bytes[place...].starts(with: text) { return true }
            start = place + 1
        }
        return false
    }

    private func story(_ daemon: TestDaemon, _ seq: Int) throws -> JSONNode {
        try json(daemon.pushctl("show", "\(seq)", "--json").output)
    }

    @Test("removes entries that a handler logged for a user without a device; the next session flushes those of others")
    func logged() throws {
        let installation = Installation()
        installation.addJob("log", #"echo '{"log":[{"kind":"custom_event","name":"answered","suite":"standard"}]}'"#)
        let daemon = try TestDaemon(installation)
        let requests = ["anna", "ben"].map {
            #"{"op":"deliver","app":"shop","external_id":"\#($0)","payload":{"data":{"job":"log"}}}"# + "\n"
        }
        #expect(daemon.pushctl("inject", "--wait", "-", input: requests.joined()).end == .exited(0))
        let receipt = try json(daemon.pushctl("erase", "--user", "anna", "--yes", "--json").output)
        #expect(receipt["entries"]?.int64 == 1)
        let session = daemon.pushctl("session", "start", "--app", "shop", "--device", "d", "--external-id", "ben")
        #expect(session.end == .exited(0))
        #expect(try json(daemon.pushctl("pending", "--json").output).text.contains("answered") == false)
        #expect(try daemon.process.stop() == .exited(0))
    }

    @Test("removes a user from every file of the store, keeps others, and forgets: a later tap is on an unknown id")
    func online() throws {
        #expect(!files(with: Self.anna).isEmpty)
        let figures = daemon.pushctl("report", "--format", "csv").lines.count
        let before = try story(daemon, 13).text
        let dry = daemon.pushctl("erase", "--user", "user-" + Self.anna, "--dry-run", "--json")
        #expect(dry.end == .exited(0), "\(dry.errors)")
        #expect(try json(dry.output)["requests"]?.int64 == 9)
        let asked = daemon.pushctl("erase", "--user", "user-" + Self.anna, input: "no\n")
        #expect(asked.end == .exited(1) && asked.errors.contains("type that number"), "\(asked.errors)")
        #expect(!files(with: Self.anna).isEmpty)

        let erased = daemon.pushctl("erase", "--user", "user-" + Self.anna, "--yes", "--json")
        #expect(erased.end == .exited(0), "\(erased.errors)")
        let receipt = try json(erased.output)
        #expect(receipt["erased"]?.bool == true && receipt["complete"]?.bool == true, "\(erased.output)")
        #expect(receipt["requests"]?.int64 == 9 && receipt["attributes"]?.int64 == 1, "\(erased.output)")
        #expect(receipt["stays"]?.strings == ["journal", "backups", "exports"])
        #expect(files(with: Self.anna) == [])
        #expect(!files(with: Self.ben).isEmpty)

        #expect(daemon.pushctl("report", "--format", "csv").lines.count == figures)
        #expect(try story(daemon, 13).text == before)
        let shown = daemon.pushctl("show", "4")
        #expect(shown.end == .exited(0), "a row without a name stays")
        #expect(shown.output.contains("Erased: \"pushctl erase\" removed") && !shown.output.contains("As received"))
        #expect(try json(daemon.pushctl("user", "user-" + Self.ben, "--json").output).text.contains("city-" + Self.ben))
        let tap = #"{"op":"interact","kind":"opened","app":"shop","device":"d","message":"message-\#(Self.anna)"}"#
        let line = daemon.pushctl("inject", "--json", "-", input: tap + "\n").output
        #expect(line.contains(#""ok":true"#), "\(line)")
        let held = daemon.pushctl("show", "19")
        #expect(held.output.contains("no matching push yet"), "\(held.output)")
    }

    @Test("removes one device from every file of the store")
    func device() throws {
        let erased = daemon.pushctl("erase", "--device", "device-" + Self.anna, "--yes")
        #expect(erased.end == .exited(0), "\(erased.errors)")
        #expect(files(with: "device-" + Self.anna) == [])
        #expect(files(with: "typed-" + Self.anna) == [])
        #expect(!files(with: "city-" + Self.anna).isEmpty, "the profile is the user's")
        #expect(!files(with: Self.ben).isEmpty)
    }

    @Test("works without a daemon, and the next daemon starts without the person")
    func offline() throws {
        daemon.process.crash()
        let erased = daemon.pushctl("erase", "--user", "user-" + Self.anna, "--yes")
        #expect(erased.end == .exited(0), "\(erased.errors)")
        #expect(files(with: Self.anna) == [])
        let next = try TestDaemon(daemon.installation)
        #expect(next.pushctl("pending", "--json").output.contains("event-" + Self.ben))
        #expect(files(with: Self.anna) == [])
    }

    @Test("a crash in the middle leaves an order that the next start carries out")
    func crash() throws {
        // A reader's snapshot keeps the pages from before the erasure in the WAL.
        let reader = try daemon.installation.ledger()
        try reader.snapshot { () throws(StoreError) in
            _ = try reader.highestSequenceNumber()
            let erased = daemon.pushctl("erase", "--user", "user-" + Self.anna, "--yes", "--json")
            #expect(erased.output.contains(#""complete":false"#), "\(erased.output)\(erased.errors)")
            #expect(!files(with: Self.anna).isEmpty)
            daemon.process.crash()
        }
        let next = try TestDaemon(daemon.installation)
        // Erasures run one after the other: the answer to this one proves that the one before is complete.
        let again = next.pushctl("erase", "--user", "user-" + Self.anna, "--yes", "--json")
        #expect(again.output.contains(#""complete":true"#), "\(again.output)\(again.errors)")
        #expect(files(with: Self.anna) == [])
        #expect(files(with: "erasure") == [])
        #expect(!files(with: Self.ben).isEmpty)
    }

    @Test("waits for the outcomes of earlier requests; later requests of the person are new, and do not hold it up")
    func inFlight() throws {
        let slow = """
            {"op":"deliver","app":"shop","device":"device-\(Self.anna)","platform":"android",\
            "payload":{"data":{"job":"slow"}}}
            """
        #expect(daemon.pushctl("inject", "-", input: slow + "\n").end == .exited(0))
        let client = try Client(path: daemon.installation.controlSocket)
        let order = #"{"op":"erase","external_id":"user-\#(Self.anna)"}"#
        try client.send(line: order)
        // Once another order is refused the first has its bound.
        let other = try Client(path: daemon.installation.controlSocket)
        let nobody = #"{"op":"erase","external_id":"nobody"}"#
        while try other.ask(nobody).errorMessage != "another erasure is under way" {}
        let later =
            #"{"op":"session","kind":"start","app":"shop","device":"tablet","external_id":"user-\#(Self.anna)"}"#
        #expect(daemon.pushctl("inject", "--wait", "-", input: later + "\n").end == .exited(0))
        #expect(!files(with: Self.anna).isEmpty)
        // `O_RDWR` does not wait for a reader, even if the handler has already timed out.
        let gate = open(daemon.installation.root + "/gate", O_RDWR | O_CLOEXEC)
        defer { close(gate) }
        #expect(write(gate, "go\n", 3) == 3)
        let receipt = try JSONDocument(scanning: try client.receiveLine() ?? []).root
        #expect(receipt["ok"]?.bool == true, "\(receipt)")
        #expect(!files(with: Self.anna).isEmpty, "the session is new")
        let erased = daemon.pushctl("erase", "--user", "user-" + Self.anna, "--yes", "--json")
        #expect(erased.end == .exited(0), "\(erased.errors)")
        #expect(files(with: Self.anna) == [])
    }

    @Test("of an unknown person says so, and writes nothing unless the answer is the number")
    func nobody() throws {
        let asked = daemon.pushctl("erase", "--user", "user-ana", input: "no\n")
        #expect(asked.end == .exited(1), "\(asked.output)")
        #expect(asked.errors.contains("the ledger has no data of that person"), "\(asked.errors)")
        let meant = daemon.pushctl("erase", "--user", "user-ana", input: "0\n")
        #expect(meant.end == .exited(0) && meant.output.hasPrefix("Erased"), "\(meant.errors)")
    }

    @Test("takes either a user or a device")
    func usage() {
        for arguments in [[], ["--user", "a", "--device", "b"], ["--user", ""]] {
            #expect(pushctl.run(daemon.options + ["erase"] + arguments).end == .exited(2), "\(arguments)")
        }
    }
}
