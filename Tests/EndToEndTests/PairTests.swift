import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite(
    "A pair, as people see it", .needsPostgreSQL, .timeLimit(.minutes(10)))
struct PairTests {
    private let server = PostgreSQLServer()

    private func installation(_ node: String) -> Installation {
        Installation(
            """
            [Store]
            Log=postgresql://postgres@/postgres?host=\(server.root)
            Durability=engine
            Lease=60s
            Node=\(node)

            """)
    }

    private func run(_ installation: Installation, _ words: String..., input: String = "") -> Program.Result {
        let options = [
            "--config", installation.configuration, "--state", installation.state, "--runtime", installation.runtime,
        ]
        return pushctl.run(options + words, input: Array(input.utf8))
    }

    private func leads(_ installation: Installation) -> Bool {
        run(installation, "status").output.contains("leads as ")
    }

    @Test("is set up once; one machine leads, and the other names it, also in the metrics; erase needs the leader")
    func pair() throws {
        let (first, second) = (installation("a"), installation("b"))
        #expect(run(first, "store", "status").end == .exited(69))
        let made = run(first, "store", "init")
        #expect(made.end == .exited(0) && made.output.hasPrefix("fleet "), "\(made.errors)")
        let again = run(second, "store", "init")
        #expect(again.end == .exited(69) && again.errors.contains("already"), "\(again.errors)")

        let leader = DaemonProcess(first, program: "pushrouterd-fleet")
        try waitUntil("it leads") { leads(first) }
        let follower = DaemonProcess(second, program: "pushrouterd-fleet")
        try follower.waitForStatus("STATUS=follows as b; a leads")
        #expect(run(first, "inject", "-", input: #"{"data":{"k":"v"}}"#).end == .exited(0))
        let refused = try Client(path: second.injectSocket).ask(#"{"op":"flush","id":"i"}"#)
        #expect(refused["id"]?.string == "i" && refused["error"]?["code"]?.string == "unavailable")
        #expect(refused["error"]?["leader"]?.string == "a" && refused["error"]?["retry"]?.bool == true)

        // Reading commands use the copy and say so; other commands name the machine to ask.
        try waitUntil("the copy has it") { run(second, "show", "1").end == .exited(0) }
        let shown = run(second, "show", "1", "--json")
        #expect(shown.end == .exited(0) && shown.output.contains("\"seq\":1"), "\(shown)")
        #expect(shown.errors.hasPrefix("pushctl: b follows a; this is its copy, 0 batches and "), "\(shown.errors)")
        let report = run(second, "report", "--format", "json")
        #expect(report.end == .exited(0) && report.errors.contains("b follows a"), "\(report)")
        for document in [report.output, shown.output, run(second, "devices", "--json").output] {
            let copy = try json(document)["copy"]
            #expect(copy?["node"]?.string == "b" && copy?["leader"]?.string == "a", "\(document)")
            #expect(copy?["batches_behind"]?.int64 == 0 && copy?["behind_ms"]?.int64 != nil, "\(document)")
        }
        let own = run(first, "report", "--format", "json")
        #expect(try !own.errors.contains("follows") && json(own.output)["copy"] == nil, "\(own)")
        let flush = run(second, "flush", "--app", "shop", "--suite", "it's")
        #expect(flush.end == .exited(69), "\(flush)")
        let sentence = "flush: this machine follows, and a leads: run \"pushctl --config"
        #expect(flush.errors.contains(sentence), "\(flush.errors)")
        #expect(flush.errors.contains("flush --app shop --suite 'it'\\''s'\" there"), "\(flush.errors)")
        let injected = run(second, "inject", "-", input: "{}\n{}\n")
        #expect(injected.end == .exited(69) && injected.errors.contains("a leads: run"), "\(injected)")

        let status = run(second, "store", "status", "--json")
        let shard = try json(status.output)["shards"]?.elements.first
        #expect(shard?["leader"]?.string == "a" && shard?["term"]?.int64 == 1, "\(status.output)\(status.errors)")
        #expect(run(second, "store", "status").output.contains("a leads, term 1"))

        let seen = run(second, "status").output
        #expect(seen.contains("follows as b; a leads, term 1; 0 batches behind"), "\(seen)")
        #expect(run(first, "status").output.contains("leads as a, term 1"))

        let health = try json(run(second, "doctor", "--json").output)["findings"]?.elements ?? []
        let found = health.filter { $0["area"]?.string == "database" }.compactMap { $0["message"]?.string }
        #expect(found.contains("a leads, term 1"), "\(found)")
        #expect(found.contains { $0.hasPrefix("b follows, ") } && found.contains { $0.hasPrefix("fsync is off") })
        #expect(health.contains { $0["message"]?.string == "this machine follows as b, and a leads" })

        #expect(try leader.stop() == .exited(0))
        // The leader gave the lease back, so the other machine does not wait for its end.
        try waitUntil("the other leads") { leads(second) }
        #expect(try follower.stop() == .exited(0))
        let offline = run(first, "erase", "--user", "anna", "--yes")
        #expect(offline.end == .exited(1) && offline.errors.contains("the leader erases for all"), "\(offline.errors)")
    }

    @Test("verify names a parameter of Log= that libpq does not know, with file and line, and no password")
    func verifies() {
        func verified(_ log: String) -> Program.Result {
            run(Installation("[Store]\n# The database.\nLog = \(log)\nDurability=engine\n"), "verify", "--quiet")
        }
        let found = verified("postgresql://push:geheim@db/push?sslmod=verify-full")
        #expect(found.end == .exited(1), "\(found)")
        let sentence = "pushrouterd.conf:3: error: Log=: libpq has no parameter sslmod; did you mean sslmode?\n"
        #expect(found.output.hasSuffix(sentence) && !found.output.contains("geheim"), "\(found)")
        let right = verified("postgresql://push@db/push?sslmode=verify-full")
        #expect(right.end == .exited(0) && right.output.isEmpty, "\(right)")
        let asked = Program(product: "pushrouterd-fleet").run(["--config", "/nonexistent", "--verify"])
        #expect(asked.end == .exited(78), "\(asked)")
    }

    @Test(
        "a password file that the daemon's user cannot read is named, with the system's reason",
        .needsRoot)
    func unreadablePassword() throws {
        let alone = Installation()
        let path = alone.root + "/pass"
        writeFile("*:*:*:push:geheim\n", to: path)
        chmod(path, 0o600)
        chmod(alone.root, 0o755)
        alone.write("pushrouterd.conf", "[Store]\nLog=postgresql://push@/push?host=/nonexistent&passfile=\(path)\n")
        let program = Program(product: "pushrouterd-fleet").path
        func asOther(_ words: [String]) -> Program.Result {
            Program(path: "/usr/bin/setpriv").run(["--reuid=65534", "--regid=65534", "--clear-groups"] + words)
        }
        guard asOther(["/usr/bin/test", "-x", program]).end == .exited(0) else {
            return try cancelTest("another user cannot run \(program)")
        }
        let result = asOther([program, "--config", alone.configuration, "--status"])
        #expect(result.end == .exited(69), "\(result)")
        let sentence = "; the password file \(path) cannot be read: Permission denied"
        #expect(result.errors.contains(sentence) && !result.errors.contains("geheim"), "\(result.errors)")

        // Root can read the file: doctor asks as the owner of the state directory.
        mkdir(alone.state, 0o755)
        try #require(chown(alone.state, 65534, 65534) == 0)
        let doctor = run(alone, "doctor", "--quiet")
        #expect(doctor.end == .exited(1) && doctor.output.contains(sentence), "\(doctor.output)")
        try #require(chown(path, 65534, 65534) == 0)
        #expect(!run(alone, "doctor").output.contains("password file"))
    }

    /// Which files of a state directory have a text anywhere in them.
    private func files(_ installation: Installation, with text: String) -> [String] {
        func search(_ directory: String) -> [String] {
            names(in: directory).flatMap { name -> [String] in
                let path = directory + "/" + name
                guard let bytes = readFile(path) else { return search(path) }
                let text = Array(text.utf8)
                let isThere = bytes.indices.contains { bytes[$0] == text[0] && bytes[$0...].starts(with: text) }
                return isThere ? [path] : []
            }
        }
        return search(installation.state)
    }

    @Test("a person is erased from each copy, also from later ones; the names of producers are kept there")
    func erases() throws {
        let (first, second, third) = (installation("a"), installation("b"), installation("c"))
        try #require(run(first, "store", "init").end == .exited(0))
        let leader = DaemonProcess(first, program: "pushrouterd-fleet")
        try waitUntil("it leads") { leads(first) }
        let follower = DaemonProcess(second, program: "pushrouterd-fleet")
        try follower.waitForStatus("STATUS=follows as b; a leads")
        let lines = ["annaXyZZy7731", "benQuUx4418"].map { name in
            #"{"op":"deliver","id":"id-\#(name)","app":"shop","device":"device-\#(name)","platform":"android","#
                + #""external_id":"user-\#(name)","payload":{"data":{"text":"text-\#(name)"}}}"# + "\n"
        }
        #expect(run(first, "inject", "--wait", "-", input: lines.joined()).end == .exited(0))

        try waitUntil("the copy has both") { run(second, "show", "2").end == .exited(0) }
        let counted = try [first, second].map { machine in
            let result = run(machine, "erase", "--user", "user-annaXyZZy7731", "--dry-run", "--json")
            #expect(result.end == .exited(0), "\(result)")
            return try json(result.output)
        }
        #expect(counted.map { $0["requests"]?.int64 } == [1, 1] && counted.map { $0["batch"] == nil } == [true, true])
        for receipt in counted {
            #expect(receipt["stays"]?.elements.contains { $0.string == "wal_archive" } == true, "\(counted)")
        }
        let inWords = run(first, "erase", "--user", "user-annaXyZZy7731", "--dry-run").output
        #expect(inWords.contains("The shared log: batches about the person"), "\(inWords)")

        let elsewhere = run(second, "erase", "--user", "user-annaXyZZy7731", "--yes")
        #expect(elsewhere.end == .exited(69) && elsewhere.errors.contains("a leads"), "\(elsewhere.errors)")
        #expect(!elsewhere.errors.contains("is asked again"))
        let erased = run(first, "erase", "--user", "user-annaXyZZy7731", "--yes")
        #expect(erased.end == .exited(0), "\(erased.errors)")
        #expect(erased.output.contains("The shared log: batches up to "), "\(erased.output)")
        #expect(files(first, with: "annaXyZZy7731") == [])
        let other = DaemonProcess(third, program: "pushrouterd-fleet")
        for copy in [second, third] {
            try waitUntil("the copy has nothing of the person") {
                (try? LedgerReader(directory: copy.state).lastErasure())?.isRewritten == true
            }
            #expect(files(copy, with: "annaXyZZy7731") == [])
            #expect(files(copy, with: "benQuUx4418") != [])
        }
        let shown = run(third, "show", "2")
        #expect(shown.output.contains("from") && shown.output.contains("root, gid"), "\(shown.output)\(shown.errors)")

        // The other person's requests are known after a change of the leader.
        #expect(try leader.stop() == .exited(0))
        var leaders: [Installation] = []
        try waitUntil("another leads") {
            leaders = [second, third].filter(leads)
            return !leaders.isEmpty
        }
        let next = try #require(leaders.first)
        let again = run(next, "inject", "--wait", "-", input: lines[1])
        #expect(again.end == .exited(0) && again.output.contains("seq 2"), "\(again.output)\(again.errors)")
        #expect(try follower.stop() == .exited(0) && other.stop() == .exited(0))
    }

    @Test("store commands need a database in Log=, and take one order at a time")
    func usage() {
        let alone = Installation()
        let none = run(alone, "store", "status")
        #expect(none.end == .exited(78) && none.errors.contains("names no database"), "\(none.errors)")
        #expect(run(alone, "store", "move").end == .exited(78))
        #expect(run(alone, "store", "turn").end == .exited(2))
        #expect(run(alone, "store", "drain", "--to", "b").end == .exited(2))
        #expect(run(alone, "store", "move", "b").end == .exited(2))
        #expect(run(alone, "store", "init", "--json").end == .exited(2))
    }
}
