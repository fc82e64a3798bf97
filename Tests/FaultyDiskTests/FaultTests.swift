import Dispatch
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("A call that fails")
struct FaultTests {
    @Test("to sync drops dirty data: it can be read, a second sync succeeds, and a power cut loses it")
    func forgets() throws {
        let scripted = ScriptedDisk()
        _ = scripted.run("open 0 /a rw creat", "pwrite 0 0 a 1024", "fsync 0", "sync /")
        let rule = scripted.disk.fail(.syncs(of: "a$"), .only(2), error: EIO)
        let lines = scripted.run(
            "open 0 /a rw", "fsync 0", "pwrite 0 0 b 1024", "fsync 0", "read 0 0 1024", "fsync 0",
            "pwrite 0 1024 c 512",
            "fdatasync 0")
        #expect(lines == ["0", "0", "1024", "EIO", "b1024 = 1024", "0", "512", "0"])
        #expect(rule.matched == 4 && rule.picked == 1 && scripted.disk.sectorsForgotten == 2)
        // The next program reads it too: it is in the page cache.
        #expect(scripted.run("open 0 /a rw", "read 0 0 1536", "fsync 0") == ["0", "b1024 c512 = 1536", "0"])
        try scripted.cut()
        #expect(scripted.files() == ["a": "a1024 c512"])
    }

    @Test("to read fails as often as the rule says, and only on the rule's files")
    func reading() throws {
        let scripted = ScriptedDisk()
        _ = scripted.run("open 0 /a rw creat", "pwrite 0 0 a 512", "open 1 /b rw creat", "pwrite 1 0 b 512")
        let rule = scripted.disk.fail(.reads(of: "a$"), .only(2), error: EIO)
        let lines = scripted.run(
            "open 0 /a", "open 1 /b", "read 1 0 512", "read 0 0 512", "read 1 0 512", "read 0 0 512", "read 0 0 512")
        #expect(lines == ["0", "0", "b512 = 512", "a512 = 512", "b512 = 512", "EIO", "a512 = 512"])
        #expect(rule.matched == 3 && rule.picked == 1 && rule.lastPicked.hasSuffix("a"))
    }

    @Test("to sync is repaired by another write of the same data, sector by sector")
    func writtenAgain() throws {
        let scripted = ScriptedDisk()
        _ = scripted.run("open 0 /a rw creat", "pwrite 0 0 a 1024", "fsync 0", "sync /")
        let rule = scripted.disk.fail(.syncs(), .only(1), error: EDQUOT)
        _ = scripted.run(
            "open 0 /a rw", "pwrite 0 0 b 1024", "fsync 0", "pwrite 0 512 b 512", "fdatasync 0")
        #expect(rule.picked == 1)
        try scripted.cut()
        #expect(scripted.files() == ["a": "a512 b512"])
    }

    @Test("to write through O_DSYNC leaves the data readable, and not on the platter")
    func writeThrough() throws {
        let scripted = ScriptedDisk()
        _ = scripted.run("open 0 /a rw creat", "allocate 0 0 1024", "fsync 0")
        let rule = scripted.disk.fail(.syncs(), .from(2), error: EIO)
        let lines = scripted.run(
            "open 0 /a rw dsync", "pwrite 0 0 a 512", "pwrite 0 512 b 512", "pwrite 0 0 c 512", "read 0 0 1024")
        #expect(lines == ["0", "512", "EIO", "EIO", "c512 b512 = 1024"])
        rule.end()
        #expect(scripted.run("open 0 /a rw dsync", "fsync 0", "read 0 0 1024") == ["0", "0", "c512 b512 = 1024"])
        try scripted.cut()
        #expect(scripted.files() == ["a": "a512 .512"])
    }

    @Test("to sync a directory keeps its names dirty, or drops them for good on a disk that does that")
    func directory() throws {
        for forgets in [false, true] {
            let scripted = ScriptedDisk()
            scripted.disk.forgetsNames = forgets
            let rule = scripted.disk.fail(.syncs(of: "directory"), .only(1), error: EIO)
            #expect(scripted.run("open 0 /a rw creat", "sync /", "sync /") == ["0", "EIO", "0"])
            #expect(rule.picked == 1)
            // The same holds when another program opens the disk first.
            #expect(scripted.run("open 0 /a rw", "open 1 /b rw creat", "sync /") == ["0", "0", "0"])
            try scripted.cut()
            #expect(scripted.files() == (forgets ? ["b": ""] : ["a": "", "b": ""]))
        }
    }

    @Test("to write changes nothing; on a full disk only calls that need room fail, and succeed once there is some")
    func writes() throws {
        let scripted = ScriptedDisk()
        _ = scripted.run("open 0 /a rw creat", "pwrite 0 0 a 512", "allocate 0 512 512", "fsync 0", "sync /")
        for error in [(ENOSPC, "ENOSPC"), (EDQUOT, "EDQUOT")] {
            let rule = scripted.disk.fail(.writes(allocating: true), .all, error: error.0)
            let lines = scripted.run(
                "open 0 /a rw", "pwrite 0 0 b 1024", "pwrite 0 1000 c 100", "allocate 0 1024 10", "open 1 /b rw creat",
                "truncate 0 2000", "fsync 0")
            #expect(lines == ["0", "1024", error.1, error.1, error.1, "0", "0"])
            rule.end()
            #expect(scripted.run("open 0 /a rw", "pwrite 0 1024 c 100", "truncate 0 1024") == ["0", "100", "0"])
        }
        for error in [(EIO, "EIO"), (EROFS, "EROFS")] {
            let rule = scripted.disk.fail(.writes(of: "a"), .from(3), error: error.0)
            let lines = scripted.run(
                "open 0 /a rw", "pwrite 0 0 x 1", "pwrite 0 1 y 1", "pwrite 0 2 z 1", "unlink /a", "read 0 0 3")
            #expect(lines == ["0", "1", "1", error.1, error.1, "x1 y1 b1 = 3"])
            let isReadOnly = error.0 == EROFS
            #expect(scripted.run("open 0 /a", "open 1 /a rw") == ["0", isReadOnly ? "EROFS" : "0"])
            rule.end()
        }
    }

    @Test("half-way writes half, in whole blocks through O_DIRECT")
    func short() throws {
        let scripted = ScriptedDisk()
        let rule = scripted.disk.shorten(.writes(of: "a"), .from(2))
        let lines = scripted.run(
            "open 0 /a rw creat", "pwrite 0 0 a 1000", "fsync 0", "sync /", "open 1 /a rw direct",
            "pwrite 1 0 b 12288", "read 0 0 20000")
        #expect(lines == ["0", "500", "0", "0", "0", "4096", "b4096 = 4096"])
        #expect(rule.picked == 2)
        try scripted.cut()
        #expect(scripted.files() == ["a": "a500"])
    }

    @Test("by killing the program kills it before the call, or after it")
    func kills() throws {
        for isDone in [false, true] {
            let scripted = ScriptedDisk()
            let rule = scripted.disk.kill(.syncs(), at: 2, isDone: isDone)
            let lines = scripted.run("open 0 /a rw creat", "sync /", "pwrite 0 0 a 512", "fsync 0", "unlink /a")
            #expect(lines == ["0", "0", "512"])
            #expect(rule.picked == 1 && scripted.files() == ["a": "a512"])
            try scripted.cut()
            #expect(scripted.files() == ["a": isDone ? "a512" : ""])
        }
    }

    @Test("by killing the program does so at any call that it picks", arguments: 1...7)
    func killsAnywhere(number: Int) {
        let scripted = ScriptedDisk()
        let rule = scripted.disk.kill(.writes(), at: number, isDone: true)
        let calls = [
            "mkdir /d", "open 0 /d/a rw creat", "pwrite 0 0 a 512", "allocate 0 0 4096", "truncate 0 9",
            "rename /d/a /b",
            "unlink /b",
        ]
        #expect(scripted.run(calls) == Array(["0", "0", "512", "0", "0", "0"].prefix(number - 1)) && rule.picked == 1)
    }

    @Test("that is held continues when the rule ends")
    func held() throws {
        let scripted = ScriptedDisk()
        let rule = scripted.disk.hold(.syncs(of: "a$"))
        let run = scripted.prepared(
            "open 0 /a rw creat", "pwrite 0 0 a 512", "open 1 /b rw creat", "fsync 1", "fsync 0")
        // Uses its own thread: the test library's threads may all be waiting.
        let (lines, group) = (Lines(), DispatchGroup())
        DispatchQueue.global().async(group: group) { lines.value.withLock { $0 = run() } }
        #expect(scripted.disk.wait(atMost: 60_000) { rule.picked == 1 })
        rule.end()
        group.wait()
        #expect(lines.value.withLock(\.self) == ["0", "512", "0", "0", "0"])
        try scripted.cut()
        #expect(scripted.files() == ["a": "a512", "b": ""])
    }

    @Test("slowly takes the time of the rule")
    func slow() {
        let scripted = ScriptedDisk()
        let rule = scripted.disk.delay(.syncs(), milliseconds: 50)
        let start = ContinuousClock.now
        #expect(scripted.run("open 0 /a rw creat", "fsync 0", "fdatasync 0") == ["0", "0", "0"])
        #expect(ContinuousClock.now - start >= .milliseconds(100) && rule.picked == 2)
    }
}

/// The lines that a program on another thread printed.
private final class Lines: Sendable {
    let value = Mutex<[String]>([])
}
