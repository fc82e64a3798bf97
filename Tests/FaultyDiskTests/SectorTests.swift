import Glibc
import TestSupport
import Testing

@Suite("Written data")
struct SectorTests {
    @Test("is lost in a power cut without a sync, and kept with one")
    func synced() throws {
        let scripted = ScriptedDisk()
        _ = scripted.run(
            "open 0 /a rw creat", "pwrite 0 0 a 1024", "fsync 0", "sync /", "pwrite 0 512 b 512", "open 1 /b rw creat",
            "pwrite 1 0 c 512")
        #expect(scripted.files() == ["a": "a512 b512", "b": "c512"])
        try scripted.cut()
        #expect(scripted.files() == ["a": "a1024"])
    }

    @Test("is synced by fdatasync too, through any descriptor and by any process")
    func descriptors() throws {
        let scripted = ScriptedDisk()
        _ = scripted.run("open 0 /a rw creat", "sync /", "dup 0 1", "close 0", "write 1 xxxx", "kill")
        #expect(scripted.disk.unsafeSectors == 1)
        #expect(scripted.run("open 0 /a wo", "fdatasync 0") == ["0", "0"])
        try scripted.cut()
        #expect(scripted.files() == ["a": "x4"])
    }

    @Test("through O_DSYNC or with RWF_DSYNC is kept, without other data of the file")
    func writeThrough() throws {
        let scripted = ScriptedDisk()
        _ = scripted.run(
            "open 0 /a rw creat", "allocate 0 0 4096", "fsync 0", "pwrite 0 0 a 512", "pwrite 0 512 b 512 dsync",
            "open 1 /a rw dsync", "pwrite 1 1024 c 512", "pwrite 0 1536 d 512")
        #expect(scripted.files() == ["a": "a512 b512 c512 d512 .2048"])
        try scripted.cut()
        #expect(scripted.files() == ["a": ".512 b512 c512 .2560"])
    }

    @Test("through O_DSYNC also syncs the size that it needs")
    func writeThroughGrows() throws {
        let scripted = ScriptedDisk()
        _ = scripted.run("open 0 /a rw creat dsync", "fsync 0", "pwrite 0 700 a 100", "truncate 0 9000")
        try scripted.cut()
        #expect(scripted.files() == ["a": ".700 a100"])
    }

    @Test("may be kept in part without a sync: any sectors, and older versions of them")
    func torn() throws {
        var seen: Set<String> = []
        for seed in 1...40 as ClosedRange<UInt64> {
            let scripted = ScriptedDisk(eagerness: 300, seed: seed)
            _ = scripted.run(
                "open 0 /a rw creat", "truncate 0 1536", "fsync 0", "sync /", "pwrite 0 0 a 1536", "pwrite 0 0 b 1536")
            try scripted.cut(sparing: 300)
            seen.insert(scripted.files()["a"] ?? "")
        }
        // Torn inside one write, and the newer of two writes before the older one.
        #expect(seen.count > 10)
        #expect(seen.contains { $0.contains("a") && $0.contains("b") })
        #expect(seen.contains { $0.contains(".") && $0.contains("b") })
        #expect(seen.isSubset(of: Self.mixtures), "\(seen.subtracting(Self.mixtures))")
    }

    /// All results that two writes over three sectors can leave.
    private static let mixtures: Set<String> = {
        let kinds: [[UInt8]] = [0, UInt8(ascii: "a"), UInt8(ascii: "b")].map { Array(repeating: $0, count: 512) }
        let files = kinds.flatMap { first in kinds.flatMap { second in kinds.map { first + second + $0 } } }
        return Set(files.map(ScriptedDisk.runs))
    }()

    @Test("data that sync_file_range wrote may be lost in a power cut")
    func range() throws {
        var seen: Set<String> = []
        for seed in 1...20 as ClosedRange<UInt64> {
            let scripted = ScriptedDisk(seed: seed)
            _ = scripted.run(
                "open 0 /a rw creat", "truncate 0 1024", "fsync 0", "sync /", "pwrite 0 0 a 1024", "range 0")
            try scripted.cut()
            seen.insert(scripted.files()["a"] ?? "")
        }
        #expect(seen == [".1024", "a512 .512", ".512 a512", "a1024"])
    }

    @Test("by copy_file_range, or through mmap, is tracked as well")
    func copied() throws {
        let scripted = ScriptedDisk()
        _ = scripted.run(
            "open 0 /a rw creat", "pwrite 0 0 a 1024", "open 1 /b rw creat", "copy 0 1 1024", "fsync 1",
            "open 2 /c rw creat", "truncate 2 512", "map 2 512 m", "fsync 2", "sync /", "map 2 512 n")
        try scripted.cut()
        #expect(scripted.files() == ["a": "", "b": "a1024", "c": "m512"])
    }

    @Test("of the program is tracked whatever its children do; the children's data is not on the disk")
    func children() throws {
        let scripted = ScriptedDisk()
        let (all, those) = (scripted.disk.count(.writes()), scripted.disk.count(.writes(of: "a$")))
        let lines = scripted.run(
            "open 0 /a rw creat", "pwrite 0 0 a 512", "fork 0", "child", "pwrite 0 512 b 100", "fsync 0",
            "open 1 /b rw creat", "pwrite 1 0 c 7")
        #expect(lines == ["0", "512", "0", "0", "100", "0", "0", "7"])
        // Creating a file counts as a write, too.
        #expect(all.matched == 5 && all.bytes == 619 && those.matched == 3 && those.bytes == 612)
        try scripted.cut()
        #expect(scripted.files() == ["a": "a512 b100"])
    }

    @Test("on one disk is separate from that on another disk of the same process")
    func severalDisks() async throws {
        try await withThrowingTaskGroup { group in
            for letter in ["a", "b"] {
                group.addTask {
                    let scripted = ScriptedDisk()
                    for round in 0..<200 {
                        let directory = scripted.disk.directory
                        writeFile(String(repeating: letter, count: 65_536), to: "\(directory)/\(round % 2)")
                        unlink("\(directory)/\((round + 1) % 2)")
                        try scripted.disk.syncAll()
                        try scripted.disk.checkIsComplete()
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("with O_DIRECT must be aligned, and is refused if the file system has no O_DIRECT")
    func direct() throws {
        let scripted = ScriptedDisk()
        let lines = scripted.run(
            "open 0 /a rw creat direct dsync", "sync /", "pwrite 0 0 a 4096", "pwrite 0 512 b 4096", "pwrite 0 0 b 512",
            "read 0 0 4096", "read 0 1 4096")
        #expect(lines == ["0", "0", "4096", "EINVAL", "EINVAL", "a4096 = 4096", "EINVAL"])
        try scripted.cut()
        #expect(scripted.files() == ["a": "a4096"])
        scripted.disk.directAlignment = 0
        #expect(scripted.run("open 0 /a rw direct") == ["EINVAL"])
    }
}
