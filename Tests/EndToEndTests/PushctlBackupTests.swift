import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("pushctl backup, restore and doctor", .timeLimit(.minutes(30)))
struct PushctlBackupTests {
    private let daemon: TestDaemon
    private let token = "bk3RNwTe3H0:CI2k_HHwgIpo"
    private var file: String { daemon.installation.root + "/backup.db" }

    init() throws {
        daemon = try TestDaemon()
        let result = daemon.pushctl("token", token, "--device", "d", "--platform", "android", "--wait")
        #expect(result.end == .exited(0), "\(result.errors)")
    }

    @Test("backs up beside the daemon, and restores only without it; an older cursor file is then refused")
    func roundTrip() throws {
        let written = daemon.pushctl("backup", file, "--json")
        #expect(written.end == .exited(0), "\(written.errors)")
        #expect(try json(written.output)["requests"]?.int64 == 1)
        #expect(daemon.pushctl("backup", file).errors.contains("the file exists already"))
        let cursor = daemon.installation.root + "/cursor"
        #expect(daemon.pushctl("export", "--cursor", cursor).lines.count == 1)
        #expect(daemon.pushctl("token", token, "--device", "e", "--platform", "android").end == .exited(0))
        let refused = daemon.pushctl("restore", file)
        #expect(refused.end == .exited(74) && refused.errors.contains("is in use by process"), "\(refused.errors)")
        daemon.process.crash()

        let restored = daemon.pushctl("restore", file, "--json")
        #expect(restored.end == .exited(0), "\(restored.errors)")
        #expect(try json(restored.output)["continues_numbers"]?.bool == true)
        #expect(daemon.pushctl("show", "2").end == .exited(1))
        #expect(
            daemon.pushctl("export", "--cursor", cursor).errors.contains(
                "belongs to the ledger of another state directory"))
        let next = try TestDaemon(daemon.installation)
        let accepted = next.pushctl("token", token, "--device", "e", "--platform", "android")
        #expect(accepted.output.contains("seq 3"), "\(accepted.output)")
    }

    /// Copies the backup, and overwrites all of it but its first quarter.
    private func damage(_ copy: String) {
        let script = """
            cp '\(file)' '\(copy)' && size=$(stat -c %s '\(copy)') && head -c $((size * 3 / 4)) /dev/zero | tr '\\0' A |
            dd of='\(copy)' bs=4096 iflag=fullblock conv=notrunc seek=$((size / 16384))
            """
        #expect(Program(path: "/bin/sh").run(["-c", script]).end == .exited(0))
    }

    @Test("--check reads a backup, counts its rows, and compares it with the ledger; damage and a lack are told")
    func check() throws {
        #expect(daemon.pushctl("backup", file).end == .exited(0))
        let good = daemon.pushctl("backup", "--check", file)
        #expect(good.end == .exited(0) && good.output.hasPrefix("\(file): 1 request, "), "\(good)")
        #expect(good.output.contains(": whole\n") && good.output.contains("\n  devices: 1 row\n"), "\(good)")
        #expect(good.output.hasSuffix("This machine's ledger has 0 requests after it.\n"), "\(good)")
        #expect(daemon.pushctl("token", token, "--device", "e", "--platform", "android", "--wait").end == .exited(0))
        let later = try json(daemon.pushctl("backup", "--check", file, "--json").output)
        #expect(later["requests_after"]?.int64 == 1 && later["requests_missing"]?.int64 == 0)
        #expect(later["tables"]?["requests"]?.int64 == 1 && later["rows_checked"]?.bool == true)
        // A machine for restores has no ledger, and another ledger is not compared.
        let alone = pushctl.run(["backup", "--check", file, "--state", "/nonexistent"])
        #expect(alone.end == .exited(0) && !alone.output.contains("This machine"), "\(alone)")
        let other = try TestDaemon()
        #expect(other.pushctl("token", token, "--device", "d", "--platform", "android", "--wait").end == .exited(0))
        #expect(other.pushctl("backup", "--check", file).output.contains("of another state directory"))
        let incomplete = file + ".incomplete"
        #expect(Program(path: "/bin/cp").run([file, incomplete]).end == .exited(0))
        try Database(path: incomplete, access: .readWrite).execute("UPDATE meta SET highest_seq = 2")
        let lacking = daemon.pushctl("backup", "--check", incomplete)
        let words = "It is incomplete: 1 request of this machine's ledger from before the backup is not in it."
        #expect(lacking.end == .exited(1) && lacking.output.contains(words), "\(lacking)")
        let copy = file + ".damaged"
        damage(copy)
        #expect(daemon.pushctl("backup", "--check", copy).end == .exited(74))
        #expect(daemon.pushctl("backup", "--check", file + ".none").end == .exited(66))
        #expect(daemon.pushctl("backup", "--check", file, "--keep", "1").end == .exited(2))
        let directory = daemon.installation.root
        #expect(daemon.pushctl("backup", "--keep", "1", directory).end == .exited(0))
        for words in [["backup", "--check", directory], ["restore", directory]] {
            let refused = daemon.pushctl(words)
            let named = "\(directory) is a directory: name a backup in it, such as \(directory)/push"
            #expect(refused.end == .exited(66) && refused.errors.contains(named), "\(refused)")
        }
    }

    @Test("--keep writes a file with the time as its name, and removes all but the newest of them")
    func rotation() throws {
        let directory = daemon.installation.root + "/backups"
        #expect(daemon.pushctl("backup", "--keep", "2", directory).errors.contains("its directory does not exist"))
        mkdir(directory, 0o755)
        let old = ["pushrouterd-2026-01-01T020000Z.db", "pushrouterd-2026-01-02T020000Z.db"]
        for name in old + ["mine.db", "pushrouterd-2026-01-03T020000Z.db.partial-1"] {
            writeFile("", to: "\(directory)/\(name)")
        }
        let made = daemon.pushctl("backup", "--keep", "2", directory, "--json")
        #expect(made.end == .exited(0), "\(made)")
        let name = try json(made.output)["file"]?.string?.dropFirst(directory.count + 1) ?? ""
        let left = Set(Program(path: "/bin/ls").run([directory]).lines)
        #expect(left == [old[1], "mine.db", String(name)] && name.hasPrefix("pushrouterd-2"), "\(left)")
        #expect(daemon.pushctl("backup", "--keep", "0", directory).end == .exited(2))
    }

    @Test("restore --dry-run restores a copy beside the running daemon, and leaves no file and no other change")
    func rehearsal() throws {
        #expect(daemon.pushctl("backup", file).end == .exited(0))
        let place = daemon.installation.root + "/tmp"
        mkdir(place, 0o700)
        func rehearse(_ words: String...) -> Program.Result {
            pushctl.run(daemon.options + ["restore", "--dry-run"] + words, environment: ["TMPDIR": place])
        }
        let rehearsed = rehearse(file)
        #expect(rehearsed.end == .exited(0), "\(rehearsed)")
        #expect(rehearsed.output.hasPrefix("1 request would be restored") && rehearsed.output.hasSuffix("changed.\n"))
        #expect(try json(rehearse(file, "--json").output)["requests"]?.int64 == 1)
        damage(file + ".damaged")
        #expect(rehearse(file + ".damaged").end == .exited(74))
        #expect(rehearse().end == .exited(2) && rehearse("--empty").end == .exited(2))
        #expect(Program(path: "/bin/ls").run(["-A", place]).output.isEmpty)
        #expect(daemon.pushctl("show", "1").end == .exited(0), "the daemon and its ledger are as before")
    }

    @Test("restore refuses a machine of a pair, and changes nothing there, until the configuration has no Log=")
    func pair() throws {
        #expect(daemon.pushctl("backup", file).end == .exited(0))
        daemon.process.crash()
        let state = daemon.installation.state
        func files() -> [String: [UInt8]?] {
            let names = Program(path: "/bin/ls").run([state]).lines
            return Dictionary(uniqueKeysWithValues: names.map { ($0, readFile("\(state)/\($0)")) })
        }
        let before = files()
        let alone = String(
            decoding: readFile(daemon.installation.configuration + "/pushrouterd.conf") ?? [], as: UTF8.self)
        let log = "[Store]\nLog=postgresql://push:geheim@db.example/push\n"
        // Another mistake of the file does not hide the pair.
        for more in ["", "Durabilty=engine\n"] {
            daemon.installation.write("pushrouterd.conf", log + more)
            for operand in [file, "--empty"] {
                let refused = daemon.pushctl("restore", operand)
                #expect(refused.end == .exited(78) && refused.output.isEmpty, "\(refused)")
                #expect(refused.errors.contains("belongs to a pair") && refused.errors.contains("nothing was changed"))
                #expect(refused.errors.contains(#""A clone, a move, a restored database""#), "\(refused.errors)")
                #expect(refused.errors.contains("remove Log= first") && !refused.errors.contains("geheim"))
            }
        }
        #expect(files() == before)
        daemon.installation.write("pushrouterd.conf", alone)
        #expect(daemon.pushctl("restore", file).end == .exited(0))
    }

    @Test("without a daemon, after its crash, a backup contains requests that are only in the log")
    func afterACrash() throws {
        daemon.process.crash()
        let written = daemon.pushctl("backup", file)
        #expect(written.output.contains(": 1 request, "), "\(written.output)\(written.errors)")
        #expect(daemon.pushctl("restore", file + ".none").end == .exited(66))
    }

    @Test("shows the beginning of a token, and the whole token on request")
    func tokens() throws {
        for command in [["show", "1"], ["show", "1", "--json"], ["export"]] {
            let short = pushctl.run(daemon.options + command)
            #expect(!short.output.contains(token) && short.output.contains("bk3RNw…"), "\(short.output)")
            #expect(pushctl.run(daemon.options + command + ["--full-tokens"]).output.contains(token))
        }
    }

    @Test("doctor finds no fault in a good installation, and ends with 1 when it finds one")
    func doctor() throws {
        let good = daemon.pushctl("doctor", "--json")
        #expect(good.end == .exited(0), "\(good.output)")
        let findings = try #require(try json(good.output)["findings"]).elements
        let sockets = findings.filter { $0["area"]?.string == "sockets" }
        #expect(findings.contains { $0["message"]?.string == "the whole ledger was read, and has no error" })
        #expect(sockets.count == 3 && sockets.allSatisfy { $0["severity"]?.string == "ok" }, "\(good.output)")
        daemon.installation.addHandler("gone", "Exec=/nonexistent/program")
        daemon.installation.write(
            "handlers.d/web.handler", "[Handler]\nType=http\nURL=https://x.example/\nSecretFile=/nonexistent/secret\n")
        for (name, start) in [
            ("old", "#!/usr/bin/python9\n"), ("edited", "#!/bin/sh\r\nexit 0\r\n"), ("text", "exit 0\n"),
        ] {
            let program = "\(daemon.installation.root)/\(name)"
            writeFile(start, to: program)
            chmod(program, 0o755)
            daemon.installation.addHandler(name, "Exec=\(program)")
        }
        let bad = daemon.pushctl("doctor", "--quiet")
        #expect(bad.end == .exited(1))
        #expect(bad.output.contains("handler gone: /nonexistent/program: it is not there"), "\(bad.output)")
        #expect(bad.output.contains("/old: its interpreter /usr/bin/python9: it is not there"), "\(bad.output)")
        #expect(bad.output.contains("/edited: a carriage return ends its first line"), "\(bad.output)")
        #expect(bad.output.contains("/text is neither a binary nor a script that begins with #!"), "\(bad.output)")
        #expect(bad.output.contains("handler web: SecretFile=/nonexistent/secret: it is not there"), "\(bad.output)")
        #expect(!bad.lines.contains { $0.hasPrefix("ok ") })
        daemon.process.crash()
        let ledger = daemon.installation.state + "/ledger.db"
        for suffix in ["-wal", "-shm"] { unlink(ledger + suffix) }
        writeFile(String(repeating: "no ledger ", count: 1000), to: ledger)
        let dead = daemon.pushctl("doctor").output
        #expect(dead.contains("no process listens in"))
        #expect(dead.contains("\(ledger): file is not a database") && dead.contains("pushctl salvage FILE"), "\(dead)")
    }

    @Test("doctor does not wait for a daemon that accepts no connections, and says that it does not answer")
    func fullBacklog() throws {
        daemon.process.crash()
        let full = try [daemon.installation.injectSocket, daemon.installation.controlSocket].flatMap(fullBacklog)
        defer { for descriptor in full { close(descriptor) } }
        let result = Program(path: "/usr/bin/timeout").run(["120", pushctl.path] + daemon.options + ["doctor"])
        #expect(result.end == .exited(1), "\(result.end)")
        #expect(result.output.contains("control.sock: no answer within"), "\(result.output)")
    }

    /// Returns a listening socket at a path, with connections that fill its backlog.
    private func fullBacklog(_ path: String) throws -> [Int32] {
        let flags = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        unlink(path)
        let listener = socket(AF_UNIX, flags, 0)
        try #require(withAddress(of: path) { bind(listener, $0, $1) } == 0 && listen(listener, 1) == 0)
        var descriptors = [listener]
        while true {
            let client = socket(AF_UNIX, flags, 0)
            descriptors.append(client)
            if withAddress(of: path, { connect(client, $0, $1) }) != 0 { return descriptors }
        }
    }

    private func withAddress(of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var place = sockaddr_un()
        place.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &place.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
