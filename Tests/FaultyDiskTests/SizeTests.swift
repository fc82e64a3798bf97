import TestSupport
import Testing

@Suite("The size of a file")
struct SizeTests {
    @Test("is that of the last sync; allocated room counts as size")
    func grown() throws {
        let scripted = ScriptedDisk()
        _ = scripted.run("open 0 /a rw creat", "allocate 0 0 4096", "fsync 0", "sync /", "truncate 0 9000")
        try scripted.cut()
        #expect(scripted.files() == ["a": ".4096"])
        _ = scripted.run("open 0 /a rw", "truncate 0 9000", "fdatasync 0", "allocate 0 9000 1000")
        try scripted.cut()
        #expect(scripted.files() == ["a": ".9000"])
    }

    @Test("that was reduced is reduced after a sync, and the cut-off data never comes back")
    func shrunk() throws {
        let scripted = ScriptedDisk()
        let make = ["open 0 /a rw creat", "pwrite 0 0 a 2048", "fsync 0", "sync /"]
        _ = scripted.run(make + ["truncate 0 700"])
        try scripted.cut()
        #expect(scripted.files() == ["a": "a2048"])
        _ = scripted.run("open 0 /a rw trunc", "pwrite 0 0 b 100", "truncate 0 2048", "fsync 0")
        try scripted.cut()
        #expect(scripted.files() == ["a": "b100 .1948"])
        // The file grows again over the data on the platter.
        _ = scripted.run("open 0 /a rw", "truncate 0 3", "truncate 0 1500")
        try scripted.cut()
        #expect(scripted.files() == ["a": "b100 .1948"])
    }

    @Test("that was reduced reaches the platter before any later write")
    func orderOfShrinking() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let scripted = ScriptedDisk(eagerness: 300, seed: seed)
            _ = scripted.run(
                "open 0 /a rw creat", "pwrite 0 0 a 2048", "fsync 0", "sync /", "truncate 0 0", "pwrite 0 0 b 2048")
            try scripted.cut(sparing: 300)
            let contents = try #require(scripted.files()["a"])
            #expect(contents == "a2048" || !contents.contains("a"), "\(contents)")
        }
    }
}
