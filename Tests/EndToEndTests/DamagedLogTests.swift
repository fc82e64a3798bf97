import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("A bad block in the middle of the log")
struct DamagedLogTests {
    @Test("is reported, and the log behind it is kept; no number is given twice", .timeLimit(.minutes(30)))
    func badBlock() throws {
        let (bed, load) = (DaemonOnDisk(seed: diskSeed), DiskLoad("r", seed: diskSeed))
        try bed.start()
        try load.connect(to: bed.installation)
        try load.run(count: 150)
        bed.crash()
        try load.receiveLastReplies()
        // The ledger has synced nothing since its start, so the log is ahead of it.
        try bed.cutPower()
        try damageLog(of: bed)

        let before = Set(try load.acknowledged.values.map { try number(in: $0.reply) })
        try bed.start()
        let entry = "the log is damaged and was moved to \(bed.installation.state)/log.set-aside-"
        try waitUntil("the journal says it") { bed.daemon?.standardError.contains(entry) == true }
        // The requests before the bad block are there; those behind it are lost.
        let lost = try load.findLost(at: bed.installation)
        #expect(lost.count > 0 && lost.count < 150)
        try load.connect(to: bed.installation)
        let earlier = Set(load.acknowledged.keys)
        try load.run(count: 60)
        load.disconnect()
        for (id, acknowledged) in load.acknowledged where !earlier.contains(id) {
            #expect(!before.contains(try number(in: acknowledged.reply)), "\(id) got a number that was given before")
        }

        try bed.cutPower()
        try bed.start()
        #expect(try load.findLost(at: bed.installation) == [])
        #expect(bed.daemon?.standardError.contains(entry) == false)
        #expect(names(in: bed.installation.state).contains { $0.hasPrefix("log.set-aside-") })
        try bed.installation.waitUntilIdle()
        try load.checkLedger(of: bed.installation)
        #expect(try bed.stop() == .exited(0))
    }

    @Test("of which nothing is left is a loss that the start tells after a kill, and none after a clean stop")
    func removed() throws {
        let installation = Installation()
        let aside = "the log is damaged and was moved to \(installation.state)/log.set-aside-"
        let log = installation.state + "/log"
        var given: Set<Int64> = []
        for isKilled in [false, true] {
            let daemon = try DaemonProcess.ready(installation)
            let client = try installation.injectClient()
            for _ in 0..<40 { given.insert(try #require(try client.ask(Requests.deliver(id: nil, waits: false)).seq)) }
            if isKilled { daemon.crash() } else { #expect(try daemon.stop() == .exited(0)) }
            for name in names(in: log) { unlink("\(log)/\(name)") }
            try #require(rmdir(log) == 0)

            let next = try DaemonProcess.ready(installation)
            let seq = try #require(try installation.injectClient().ask(Requests.deliver(id: nil, waits: false)).seq)
            #expect(given.insert(seq).inserted, "\(seq) was given twice")
            if isKilled {
                // The journal's thread may write the entry after the daemon is ready.
                try waitUntil("the start tells the loss") { next.standardError.contains(aside) }
            } else {
                #expect(!next.standardError.contains(aside), "\(next.standardError)")
            }
            let found = pushctl.run(["--state", installation.state, "--runtime", installation.runtime, "doctor"])
            #expect(found.output.contains("log.set-aside-") == isKilled, "\(found.output)")
            #expect(try next.stop() == .exited(0))
        }
        #expect(given.count == 82)
    }

    private func number(in reply: String) throws -> Int64 { try #require(try json(reply)["seq"]?.int64) }

    /// Writes garbage over the middle batch block.
    private func damageLog(of bed: DaemonOnDisk) throws {
        let path = bed.installation.state + "/log/segment-0001"
        let bytes = try #require(readFile(path))
        let batches = stride(from: 4096, to: bytes.count, by: 4096).filter {
            bytes[$0..<$0 + 4].elementsEqual("PLB1".utf8)
        }
        try #require(batches.count > 4)
        let file = open(path, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        let garbage = [UInt8](repeating: 0x5A, count: 4096)
        try #require(pwrite(file, garbage, garbage.count, off_t(batches[batches.count / 2])) == garbage.count)
        try bed.disk.syncAll()
    }
}
