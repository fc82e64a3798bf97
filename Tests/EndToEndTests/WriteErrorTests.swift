import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("A write that fails")
struct WriteErrorTests {
    @Test(
        "for lack of space makes the daemon refuse requests, lose none, and continue when there is space",
        .timeLimit(.minutes(30)), arguments: [(name: "ENOSPC", number: ENOSPC), (name: "EDQUOT", number: EDQUOT)])
    func noRoom(error: (name: String, number: Int32)) throws {
        let (bed, load) = try start(seed: 3)
        let rule = bed.disk.fail(.writes(allocating: true), .all, error: error.number)
        try waitUntil("the daemon has seen that there is no room") {
            load.push()
            try #require(bed.isAlive, "\(bed.lastWords)")
            return try storeProblem(of: bed) != nil
        }
        let refused = try bed.installation.injectClient().ask(Requests.deliver(id: "late"))
        #expect(refused.errorCode == "unavailable" && refused.id == "late", "\(refused)")
        #expect(refused["error"]?["retry"]?.bool == true && refused["error"]?["retry_after_ms"]?.int64 == 1000)
        #expect(rule.picked > 0)
        rule.end()
        try load.finish()
        try waitUntil("the daemon has seen that there is room") {
            try DaemonStatus(of: bed.installation)["store_problem"]?.kind == .null
        }
        try load.run(count: 60)
        try check(bed, load, error.name)
    }

    @Test(
        "and will always fail refuses requests or ends the daemon with 74, and the next one continues with all data",
        .timeLimit(.minutes(30)),
        arguments: [(name: "EIO", number: EIO), (name: "EROFS", number: EROFS)], [1, 2, 7, 30])
    func broken(error: (name: String, number: Int32), first: Int) throws {
        let (bed, load) = try start(seed: UInt64(first))
        let rule = bed.disk.fail(.writes(), .from(first), error: error.number)
        try waitUntil("the daemon has ended, or says that it cannot write") {
            load.push()
            return try !bed.isAlive || storeProblem(of: bed) != nil
        }
        #expect(rule.picked > 0)
        if bed.isAlive { bed.daemon?.send(SIGTERM) }
        #expect(try bed.waitForEnd() == .exited(74))
        rule.end()
        try load.receiveLastReplies()
        try bed.start()
        try load.connect(to: bed.installation)
        try load.run(count: 60)
        try check(bed, load, "\(error.name) from write \(first) on")
    }

    @Test("and will always fail ends the running handlers with the daemon", .timeLimit(.minutes(30)))
    func handlers() throws {
        let bed = DaemonOnDisk(seed: 5)
        let messages = Messages(bed.installation.root + "/processes")
        // Two processes, one of which leaves the process group.
        let script = "setsid sleep 600 & echo $! >>$ROOT/processes\necho $$ >>$ROOT/processes\nexec sleep 600"
        bed.installation.addJob("hang", script)
        try bed.start()
        let client = try bed.installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "hang")).isAccepted)
        let started = try messages.processes(2)
        let rule = bed.disk.fail(.writes(), .from(1), error: EIO)
        try client.send(line: Requests.deliver(id: "next"))
        #expect(try bed.waitForEnd() == .exited(74))
        try waitUntil("the handler is gone") { !started.contains(where: isAlive) }
        rule.end()
    }

    @Test("that writes only half is continued until it is complete", .timeLimit(.minutes(30)))
    func half() throws {
        let (bed, load) = try start(seed: 4)
        let rule = bed.disk.shorten(.writes(), .all)
        try load.run(count: 200)
        #expect(rule.picked > 0 && !load.isCutOff && load.refusals.isEmpty, "\(load.refusals)")
        rule.end()
        try check(bed, load, "half writes")
    }

    /// Returns the daemon's `store_problem`; `nil` if it has none, or is about to end.
    private func storeProblem(of bed: DaemonOnDisk) throws -> String? {
        guard let client = try? Client(path: bed.installation.controlSocket) else { return nil }
        try? client.send(line: #"{"op":"status"}"#)
        guard let bytes = try client.receiveLine(timeoutMilliseconds: patience) else { return nil }
        return try Line(bytes)["status"]?["store_problem"]?.string
    }

    /// Starts a daemon with some requests, and producers.
    private func start(seed: UInt64) throws -> (DaemonOnDisk, DiskLoad) {
        let (bed, load) = (DaemonOnDisk(seed: seed), DiskLoad("r", seed: seed))
        try bed.start()
        try load.connect(to: bed.installation)
        try load.run(count: 60)
        return (bed, load)
    }

    /// Cuts the power, and checks for all acknowledged requests.
    private func check(_ bed: DaemonOnDisk, _ load: DiskLoad, _ name: String) throws {
        bed.crash()
        try load.receiveLastReplies()
        try bed.disk.checkIsComplete()
        try bed.cutPower()
        try bed.start()
        let lost = try load.findLost(at: bed.installation)
        #expect(lost == [] && load.contradictions.isEmpty, "\(load.contradictions.prefix(3))")
        try bed.installation.waitUntilIdle()
        try load.checkLedger(of: bed.installation)
        var figures = DiskFigures()
        (figures.cuts, figures.acknowledged, figures.lost) = (1, load.acknowledgements, lost.count)
        print("disk, write errors, \(name): \(figures); refused \(load.refusals)")
    }
}
