import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("The check of a ledger")
struct LedgerCheckTests {
    /// A stopped state directory whose ledger has all committed requests.
    private func stopped() async throws -> TemporaryDirectory {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit((1...50).map { .request(Fixture.request($0, bytes: 1000)) })
        ledger.committer.stop()
        return directory
    }

    private func check(
        _ directory: borrowing TemporaryDirectory, readingAtMost limit: Int64 = .max
    ) throws(StoreError) -> LedgerCheck {
        try LedgerCheck.check(directory: directory.path, readingAtMost: limit)
    }

    @Test("reads a good ledger completely, unless it is longer than the limit")
    func whole() async throws {
        let directory = try await stopped()
        #expect(try check(directory) == .whole)
        let length = Int64(try #require(readFile(directory.path + "/ledger.db")).count)
        #expect(try check(directory, readingAtMost: length) == .whole)
        #expect(try check(directory, readingAtMost: length - 1) == .opened(length: length))
    }

    @Test("finds a damaged page, which opening the ledger does not")
    func damaged() async throws {
        let directory = try await stopped()
        let file = open(directory.path + "/ledger.db", O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        let page = LedgerWriter.newPageLength
        let bytes = try #require(readFile(directory.path + "/ledger.db"))
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 900)
        let starts = Array(stride(from: 0, to: bytes.count, by: page))
        let last = try #require(starts.last { bytes[$0..<$0 + page].contains(body) })
        let noise = [UInt8](repeating: 0xA5, count: page)
        try #require(pwrite(file, noise, page, last) == page)
        #expect(try check(directory, readingAtMost: 0) == .opened(length: Int64(bytes.count)))
        let error = #expect(throws: StoreError.self) { try check(directory) }
        #expect(error?.kind == .corrupt)
        #expect(error?.advice.contains("pushctl salvage") == true)
    }

    @Test("distinguishes a directory that no daemon has used from one whose ledger is gone")
    func gone() async throws {
        #expect(try check(TemporaryDirectory()) == .none)
        let directory = try await stopped()
        for suffix in ["", "-wal", "-shm"] { unlink(directory.path + "/ledger.db" + suffix) }
        let error = #expect(throws: StoreError.self) { try check(directory) }
        #expect(error?.kind == .lost)
    }
}
