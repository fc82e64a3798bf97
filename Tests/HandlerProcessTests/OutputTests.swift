import Testing

@testable import HandlerProcess

@Suite("A program's output", .timeLimit(.minutes(30)))
struct OutputTests {
    @Test("is kept up to the limit; of 10 MB the rest is read, discarded and counted")
    func flood() throws {
        let child = try shell("exec head -c 10000000 /dev/zero").start()
        var kept: [UInt8] = []
        var discarded = 0
        var progress: OutputProgress
        repeat {
            try #require(waitUntilReadable(child.standardOutput))
            progress = child.readOutput(into: &kept)
            discarded += progress.discarded
        } while !progress.hasEnded
        #expect(kept == [UInt8](repeating: 0, count: 64 << 10))
        #expect(discarded == 10_000_000 - (64 << 10))
        #expect(try child.waitForExit() == .exited(0))
    }

    @Test("reading a program's output never waits for the program")
    func nothingYet() throws {
        let child = try shell("sleep 60").start()
        var kept: [UInt8] = []
        #expect(child.readOutput(into: &kept) == OutputProgress(hasEnded: false, discarded: 0))
        #expect(kept.isEmpty)
    }

    @Test("is read in pieces if it never ends, so that it does not block the daemon")
    func endless() throws {
        let child = try shell("exec cat /dev/zero").start()
        var kept: [UInt8] = []
        for _ in 0..<20 {
            try #require(waitUntilReadable(child.standardOutput))
            let before = kept.count
            let progress = child.readOutput(into: &kept, limit: 100)
            #expect(!progress.hasEnded)
            #expect(progress.discarded + kept.count - before < ChildProcess.readBound + (16 << 10))
        }
        #expect(kept.count == 100)
    }

    @Test("may end long before the program")
    func closed() throws {
        let child = try shell("echo last; exec >&-; sleep 60").start()
        #expect(try child.outputLines() == ["last"])
        #expect(child.reap() == nil)
        child.killGroup()
        #expect(try child.waitForExit() == .signaled(9))
    }

    @Test("is complete after the exit, even if another process holds the pipe")
    func afterExit() throws {
        let child = try shell("sleep 60 & echo done").start()
        #expect(try child.waitForExit() == .exited(0))
        var kept: [UInt8] = []
        _ = child.readOutput(into: &kept)
        #expect(kept == Array("done\n".utf8))
    }
}
