import Glibc
import TestSupport
import Testing

@Suite("A name")
struct NameTests {
    @Test("of a new file is lost without a sync of the directory or fsync of the file; fdatasync is not enough")
    func created() throws {
        let scripted = ScriptedDisk()
        _ = scripted.run(
            "open 0 /a rw creat dsync", "pwrite 0 0 a 512", "fdatasync 0", "open 1 /b rw creat", "pwrite 1 0 b 512",
            "fsync 1")
        try scripted.cut()
        #expect(scripted.files() == ["b": "b512"])
        _ = scripted.run("open 0 /a rw creat excl", "pwrite 0 0 a 512", "fdatasync 0", "sync /")
        try scripted.cut()
        #expect(scripted.files() == ["a": "a512", "b": "b512"])
    }

    @Test("that was changed may revert, unless the directory is synced")
    func renamed() throws {
        let scripted = ScriptedDisk()
        let lines = scripted.run(
            "open 0 /a rw creat", "pwrite 0 0 a 512", "fsync 0", "open 1 /b rw creat", "pwrite 1 0 b 512", "fsync 1",
            "rename /b /a")
        #expect(lines.last == "0")
        #expect(scripted.files() == ["a": "b512"])
        try scripted.cut()
        #expect(scripted.files() == ["a": "a512", "b": "b512"])
        #expect(scripted.run("rename /b /a", "sync /") == ["0", "0"])
        try scripted.cut()
        #expect(scripted.files() == ["a": "b512"])
    }

    @Test("that was changed is the old or the new one, never none and never both")
    func renamedAtRandom() throws {
        var seen: Set<[String: String]> = []
        for seed in 1...30 as ClosedRange<UInt64> {
            let scripted = ScriptedDisk(eagerness: 300, seed: seed)
            _ = scripted.run(
                "open 0 /a rw creat", "pwrite 0 0 a 512", "fsync 0", "open 1 /new rw creat", "pwrite 1 0 b 512",
                "fdatasync 1", "rename /new /a")
            try scripted.cut(sparing: 300)
            seen.insert(scripted.files())
        }
        #expect(seen == [["a": "a512"], ["a": "b512"], ["a": "a512", "new": "b512"]])
    }

    @Test("that was removed comes back with the synced contents of the file, unless the directory is synced")
    func removed() throws {
        let scripted = ScriptedDisk()
        _ = scripted.run("open 0 /a rw creat", "pwrite 0 0 a 512", "fsync 0", "pwrite 0 0 b 512", "unlink /a")
        #expect(scripted.files() == [:])
        try scripted.cut()
        #expect(scripted.files() == ["a": "a512"])
        _ = scripted.run("unlink /a", "sync /")
        try scripted.cut()
        #expect(scripted.files() == [:])
    }

    @Test("may be given to another file: each keeps its own contents")
    func reused() throws {
        let scripted = ScriptedDisk()
        _ = scripted.run("open 0 /a rw creat", "pwrite 0 0 a 512", "fsync 0", "close 0", "unlink /a")
        _ = scripted.run("open 0 /a rw creat excl", "pwrite 0 0 b 512", "fdatasync 0", "link /a /c")
        try scripted.cut()
        #expect(scripted.files() == ["a": "a512"])
        _ = scripted.run(
            "unlink /a", "open 0 /a rw creat excl", "pwrite 0 0 b 512", "fdatasync 0", "link /a /c", "sync /")
        try scripted.cut()
        #expect(scripted.files() == ["a": "b512", "c": "b512"])
    }

    @Test("in a new directory is lost with the directory, unless the parent is synced")
    func directories() throws {
        let scripted = ScriptedDisk()
        let make = ["mkdir /d", "open 0 /d/a rw creat", "pwrite 0 0 a 512", "fsync 0", "sync /d"]
        #expect(scripted.run(make) == ["0", "0", "512", "0", "0"])
        try scripted.cut()
        #expect(names(in: scripted.disk.directory) == [])
        #expect(scripted.run(make + ["sync /"]) == ["0", "0", "512", "0", "0", "0"])
        try scripted.cut()
        #expect(scripted.files(in: "/d") == ["a": "a512"])
        #expect(scripted.run("unlink /d/a", "rmdir /d", "sync /") == ["0", "0", "0"])
        try scripted.cut()
        #expect(names(in: scripted.disk.directory) == [])
    }

    @Test("of a directory moves its contents, and another directory may have the old name at once")
    func renamedDirectory() throws {
        for isSynced in [false, true] {
            let scripted = ScriptedDisk()
            _ = scripted.run("mkdir /d", "open 0 /d/a rw creat", "pwrite 0 0 a 512", "fsync 0", "sync /d", "sync /")
            let calls = ["rename /d /e", "mkdir /d", "open 0 /d/b rw creat", "pwrite 0 0 b 512", "fsync 0", "sync /d"]
            #expect(scripted.run(calls + (isSynced ? ["sync /"] : [])).contains("0"))
            #expect(scripted.files(in: "/e") == ["a": "a512"] && scripted.files(in: "/d") == ["b": "b512"])
            try scripted.cut()
            #expect(names(in: scripted.disk.directory).sorted() == (isSynced ? ["d", "e"] : ["d"]))
            #expect(scripted.files(in: "/d") == (isSynced ? ["b": "b512"] : ["a": "a512"]))
            if isSynced { #expect(scripted.files(in: "/e") == ["a": "a512"]) }
            #expect(scripted.run("open 0 /d/c rw creat", "fsync 0") == ["0", "0"])
            try scripted.cut()
            #expect(names(in: scripted.disk.directory + "/d").contains("c"))
        }
    }

    @Test("that a killed program has created is visible to the next one")
    func killed() throws {
        let scripted = ScriptedDisk()
        _ = scripted.run("open 0 /a rw creat", "pwrite 0 0 a 512", "rename /a /b", "kill")
        #expect(scripted.run("open 0 /b rw", "sync /", "fdatasync 0") == ["0", "0", "0"])
        try scripted.cut()
        #expect(scripted.files() == ["b": "a512"])
    }
}
