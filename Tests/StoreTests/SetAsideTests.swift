import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("Copies that were set aside")
struct SetAsideTests: ~Copyable {
    private let directory = TemporaryDirectory()
    private let day: Int64 = 24 * 3600 * 1000

    /// Has a copy set aside so many days after 1970.
    private func setAside(day number: Int64) throws -> String {
        writeFile("ledger", to: directory.path + "/ledger.db")
        mkdir(directory.path + "/log", 0o700)
        writeFile("log", to: directory.path + "/log/1")
        return try SetAside.moveCopy(in: directory.path, at: WallTime(milliseconds: number * day))
    }

    @Test("are removed after their time, but for the newest; what people set aside stays")
    func old() throws {
        let copies = try [10, 12, 14].map { try setAside(day: $0) }
        writeFile("ledger", to: directory.path + "/ledger.db")
        let restored = try #require(
            try SetAside.moveAll(in: directory.path, at: WallTime(milliseconds: 1)))
        func remove(on number: Int64) throws -> [String] {
            try SetAside.removeOldCopies(
                in: directory.path, olderThan: .milliseconds(7 * day), at: WallTime(milliseconds: number * day))
        }
        #expect(try remove(on: 17) == [])
        #expect(try remove(on: 18) == [copies[0]])
        #expect(SetAside.list(in: directory.path) == [restored, copies[1], copies[2]].sorted())
        #expect(try remove(on: 100) == [copies[1]])
        #expect(try remove(on: 200) == [])
        #expect(SetAside.list(in: directory.path) == [restored, copies[2]].sorted())
        #expect(readFile(copies[2] + "/log/1") == Array("log".utf8))
    }

    @Test("are removed without what a link in them leads to")
    func links() throws {
        let other = TemporaryDirectory()
        writeFile("mine", to: other.path + "/file")
        let copy = try setAside(day: 1)
        symlink(other.path, copy + "/link")
        _ = try setAside(day: 2)
        let gone = try SetAside.removeOldCopies(
            in: directory.path, olderThan: .zero, at: WallTime(milliseconds: 3 * day))
        #expect(gone == [copy] && readFile(other.path + "/file") == Array("mine".utf8))
    }
}
