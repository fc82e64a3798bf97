import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("A file of the store that is taken away under the running daemon", .timeLimit(.minutes(30)))
struct FileWatchTests: ~Copyable {
    private let directory = TemporaryDirectory()
    private var state: String { directory.path + "/state" }

    /// Makes a running store with a batch, and looks at its files once.
    private func makeLedger() async throws -> TestLedger {
        let ledger = try TestLedger(state)
        try await ledger.commit(Fixture.delivery(1))
        #expect(ledger.committer.displacedFile() == nil)
        return ledger
    }

    /// The segment with the batches; the next one may be there, too.
    private var segment: String { "\(state)/log/\(names(in: state + "/log").min() ?? "")" }

    @Test("is noticed, with its name", arguments: ["ledger.db", "ledger.db-wal", "log"])
    func moved(name: String) async throws {
        let ledger = try await makeLedger()
        let path = name == "log" ? segment : "\(state)/\(name)"
        #expect(rename(path, path + ".away") == 0)
        let error = try #require(ledger.committer.displacedFile())
        #expect(error.kind == .displaced && error.context == path)
        #expect(error.message == "the file was moved or removed while the daemon ran")
        #expect(rename(path + ".away", path) == 0)
        #expect(ledger.committer.displacedFile() == nil)
        writeFile("other", to: path + ".new")
        #expect(rename(path + ".new", path) == 0)
        #expect(ledger.committer.displacedFile()?.context == path)
    }

    @Test("is noticed if it is a segment that was removed, or shortened")
    func segments() async throws {
        let ledger = try await makeLedger()
        let path = segment
        #expect(truncate(path, 8192) == 0)
        #expect(ledger.committer.displacedFile()?.message.hasPrefix("the file was shortened to 8192 of ") == true)
        unlink(path)
        #expect(ledger.committer.displacedFile()?.context == path)
    }

    @Test("is not a segment that the log itself removes or makes")
    func ownChanges() async throws {
        let ledger = try await makeLedger()
        for seq in 2...60 as ClosedRange<Int64> {
            try await ledger.commit([
                .request(Fixture.request(seq, bytes: 1 << 20)), .invocation(Fixture.invocation(seq)),
            ])
            #expect(ledger.committer.displacedFile() == nil)
        }
        ledger.committer.stop()
    }
}
