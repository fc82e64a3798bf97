import Glibc
import TestSupport
import Testing

@testable import Store

@Suite("The state directory", .timeLimit(.minutes(30)))
struct StateDirectoryTests {
    private func mode(_ path: String) -> mode_t {
        var facts = stat()
        return stat(path, &facts) == 0 ? facts.st_mode & 0o7777 : 0
    }

    @Test("is created for its owner alone, and the ledger for owner and group")
    func modes() throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path + "/state")
        #expect(mode(ledger.path) == 0o700)
        #expect(mode(ledger.path + "/ledger.db") == 0o640)
        #expect(mode(ledger.path + "/ledger.db-wal") == 0o640)
    }

    @Test("refuses a second holder, with the first holder's pid and an advice")
    func secondHolder() throws {
        let directory = TemporaryDirectory()
        let first = try StateDirectory(path: directory.path)
        let error = #expect(throws: StoreError.self) { _ = try StateDirectory(path: directory.path) }
        #expect(error?.kind == .inUse(by: getpid()))
        #expect(
            error?.description == "\(first.path): the state directory is in use by process \(getpid()); "
                + "stop process \(getpid()) first, or name another directory with --state")
    }

    @Test("can be locked again after its holder has ended, with the lock file still there")
    func again() throws {
        let directory = TemporaryDirectory()
        for _ in 0..<2 {
            let state = try StateDirectory(path: directory.path)
            #expect(state.path == directory.path)
            #expect(access(directory.path + "/lock", F_OK) == 0)
        }
    }

    @Test("stays locked by a committer until that has stopped")
    func committer() throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        #expect(throws: StoreError.self) { _ = try StateDirectory(path: directory.path) }
        ledger.committer.stop()
        _ = try StateDirectory(path: directory.path)
    }

    @Test("is refused when others may write to it, and when its lock is a link to another file")
    func hostile() throws {
        let directory = TemporaryDirectory()
        chmod(directory.path, 0o775)
        let shared = #expect(throws: StoreError.self) { _ = try StateDirectory(path: directory.path) }
        #expect(shared?.kind == .notPermitted)
        #expect(shared?.message == "other users may write in the state directory; run chmod go-w on it")
        chmod(directory.path, 0o700)
        writeFile("precious", to: directory.path + "/other")
        symlink(directory.path + "/other", directory.path + "/lock")
        let linked = #expect(throws: StoreError.self) { _ = try StateDirectory(path: directory.path) }
        #expect(
            linked?.message
                == "the lock is a symbolic link; find where it leads, and remove it")
        #expect(readFile(directory.path + "/other") == Array("precious".utf8))
    }

    @Test("is refused when its lock belongs to another user, has a second name, is no file, or is writable for others")
    func lock() throws {
        func refusal(_ prepare: (String) -> Void) -> String? {
            let directory = TemporaryDirectory()
            writeFile("", to: directory.path + "/lock")
            prepare(directory.path + "/lock")
            return #expect(throws: StoreError.self) { _ = try StateDirectory(path: directory.path) }?.message
        }
        #expect(refusal { chmod($0, 0o666) } == "other users may write the lock; run chmod go-w on it")
        #expect(refusal { link($0, $0 + "2") }?.contains("has another hard link") == true)
        #expect(
            refusal {
                unlink($0)
                mkfifo($0, 0o600)
            } == "the lock is not a regular file; remove it")
        guard geteuid() == 0 else { return leaveUntested("the lock of another user: needs root") }
        #expect(
            refusal { chown($0, 65534, 65534) }
                == "the lock belongs to user 65534, and this is user 0; remove it, or chown it")
    }

    @Test("may be a link of root or of its owner, and is refused as a link of another user")
    func linkedDirectory() throws {
        let directory = TemporaryDirectory()
        mkdir(directory.path + "/real", 0o700)
        let link = directory.path + "/link"
        symlink(directory.path + "/real", link)
        _ = try StateDirectory(path: link)
        guard geteuid() == 0 else { return leaveUntested("the link of another user: needs root") }
        lchown(link, 65534, 65534)
        let error = #expect(throws: StoreError.self) { _ = try StateDirectory(path: link) }
        #expect(
            error?.message == "the state directory is a symbolic link of user 65534, and this is user 0; "
                + "name the directory itself, or let root make the link")
    }

    @Test("is refused when its ledger has a second hard link")
    func linkedLedger() throws {
        let directory = TemporaryDirectory()
        writeFile("", to: directory.path + "/ledger.db")
        link(directory.path + "/ledger.db", directory.path + "/other.db")
        let error = #expect(throws: StoreError.self) { try TestLedger(directory.path) }
        #expect(error?.kind == .notPermitted)
        #expect(error?.message.contains("has another hard link") == true)
    }

    @Test("is refused with a ledger of another user in it", .needsRoot)
    func foreignLedger() throws {
        let directory = TemporaryDirectory()
        writeFile("", to: directory.path + "/ledger.db")
        chown(directory.path + "/ledger.db", 65534, 65534)
        let error = #expect(throws: StoreError.self) { try TestLedger(directory.path) }
        #expect(error?.kind == .notPermitted)
        #expect(error?.message == "this file belongs to user 65534, and this is user 0")
    }

    @Test("is refused, with the reason, when its ledger is a link or not a regular file", arguments: [true, false])
    func oddLedger(isLink: Bool) throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/ledger.db"
        writeFile("", to: directory.path + "/other")
        #expect((isLink ? symlink(directory.path + "/other", path) : mkfifo(path, 0o640)) == 0)
        let error = #expect(throws: StoreError.self) { try TestLedger(directory.path) }
        #expect(error?.kind == .notPermitted && error?.context == path)
        #expect(error?.message.hasPrefix("the ledger is \(isLink ? "a symbolic link" : "not a regular file")") == true)
    }

    @Test("is refused where another user owns it", .needsRoot)
    func foreign() throws {
        let directory = TemporaryDirectory()
        chown(directory.path, 65534, 65534)
        let error = #expect(throws: StoreError.self) { _ = try StateDirectory(path: directory.path) }
        #expect(error?.message == "the state directory belongs to user 65534, and this is user 0")
    }

    @Test("is not created inside a missing directory, nor over a file")
    func refused() throws {
        let directory = TemporaryDirectory()
        let orphan = #expect(throws: StoreError.self) { _ = try StateDirectory(path: directory.path + "/a/b") }
        #expect(orphan?.message == "its parent directory does not exist")
        close(open(directory.path + "/file", O_CREAT | O_WRONLY, 0o600))
        let file = #expect(throws: StoreError.self) { _ = try StateDirectory(path: directory.path + "/file") }
        #expect(file?.message == "it is a file, and no directory")
        #expect(file?.context == directory.path + "/file")
        #expect(symlink(directory.path + "/nowhere", directory.path + "/link") == 0)
        let link = #expect(throws: StoreError.self) { _ = try StateDirectory(path: directory.path + "/link") }
        #expect(link?.message == "it is a symbolic link to nothing")
        let kernels = #expect(throws: StoreError.self) { _ = try StateDirectory(path: "/proc/pushrouterd") }
        #expect(kernels?.message == "mkdir: No such file or directory")
    }
}
