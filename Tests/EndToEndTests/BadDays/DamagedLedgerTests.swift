import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("A ledger that is damaged", .timeLimit(.minutes(30)))
struct DamagedLedgerTests {
    private let installation = Installation()
    private var ledger: String { installation.state + "/ledger.db" }
    private var file: String { installation.root + "/salvaged.db" }

    private func pushctl(_ arguments: String...) -> Program.Result {
        EndToEndTests.pushctl.run(["--state", installation.state, "--runtime", installation.runtime] + arguments)
    }

    /// Lets a daemon keep requests, kills it, and overwrites bytes of its ledger with noise.
    private func damage(at offset: Int, _ count: Int) throws {
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        for number in 1...40 {
            #expect(try client.ask(Requests.deliver(id: "r\(number)", waits: false)).isAccepted)
        }
        // All requests are in the ledger, and its WAL is empty.
        _ = try installation.ledger()
        #expect(try daemon.stop() == .exited(0))
        let next = try DaemonProcess.ready(installation)
        next.crash()
        let database = open(ledger, O_WRONLY | O_CLOEXEC)
        defer { close(database) }
        let noise = [UInt8](repeating: 0xA5, count: count)
        try #require(pwrite(database, noise, count, off_t(offset)) == count)
    }

    @Test("keeps the daemon from starting, stays as it is, and names the remedy; an empty ledger is begun on demand")
    func header() throws {
        try damage(at: 0, 100)
        let before = readFile(ledger)
        for _ in 0..<2 {
            let daemon = DaemonProcess(installation)
            #expect(try daemon.waitForEnd() == .exited(74))
            let errors = daemon.standardError
            #expect(errors.contains(ledger) && errors.contains("pushctl salvage FILE"), "\(errors)")
            #expect(errors.contains("pushctl restore --empty"), "\(errors)")
        }
        #expect(readFile(ledger) == before)
        let hopeless = pushctl("salvage", file)
        #expect(hopeless.end == .exited(74) && access(file, F_OK) != 0, "\(hopeless.output)")

        let restored = pushctl("restore", "--empty", "--json")
        #expect(restored.end == .exited(0), "\(restored.errors)")
        let place = try #require(try json(restored.output)["set_aside"]?.string)
        #expect(readFile(place + "/ledger.db") == before, "nothing is deleted")
        #expect(names(in: place).contains("log"))
        let daemon = try DaemonProcess.ready(installation)
        #expect(try installation.injectClient().ask(Requests.deliver(id: "r1", waits: false)).isAccepted)
        #expect(try daemon.stop() == .exited(0))
    }

    @Test("in one place gives back all but that place, and producers' ids are known again")
    func page() throws {
        try damage(at: 0, 0)
        // The tables of sessions are empty and on pages of their own: this damage loses no row but is detected.
        let bytes = try #require(readFile(ledger))
        let page = Int(bytes[16]) << 8 | Int(bytes[17])
        let pages = bytes.count / page
        let empty = try #require((1..<pages).first { bytes[$0 * page] == 13 && bytes[$0 * page + 4] == 0 })
        let database = open(ledger, O_WRONLY | O_CLOEXEC)
        try #require(pwrite(database, [UInt8](repeating: 0xA5, count: page), page, off_t(empty * page)) == page)
        close(database)

        let salvaged = pushctl("salvage", file, "--json")
        #expect(salvaged.end == .exited(0), "\(salvaged.errors)")
        let result = try json(salvaged.output)
        #expect(result["requests"]?.int64 == 40 && result["is_whole"]?.bool == false, "\(salvaged.output)")
        #expect(pushctl("salvage", file).errors.contains("the file exists already"))
        let restored = pushctl("restore", file)
        // Automatic starts failed before, and systemd refuses another one until then.
        let start = "systemctl reset-failed pushrouterd 'pushrouterd-*.socket'; systemctl start pushrouterd"
        #expect(restored.end == .exited(0) && restored.output.contains(start), "\(restored.output)")

        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        let again = try client.ask(Requests.deliver(id: "r17", waits: false))
        #expect(again.seq == 17, "\(again)")
        let new = try #require(try client.ask(Requests.deliver(waits: false)).seq)
        #expect(new > 1_000_000, "no number is given twice")
        #expect(try daemon.stop() == .exited(0))
    }
}
