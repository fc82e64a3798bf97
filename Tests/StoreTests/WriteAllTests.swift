import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("Writing all of some bytes")
struct WriteAllTests {
    @Test("writes them at their offset, and returns the errno of a failure")
    func place() {
        let directory = TemporaryDirectory()
        let path = directory.path + "/file"
        writeFile("0123456789", to: path)
        let file = FileDescriptor(owning: open(path, O_WRONLY | O_CLOEXEC))
        let bytes = Array("abc".utf8)
        #expect(bytes.withUnsafeBytes { file.writeAll($0, at: 8) } == 0)
        #expect(readFile(path) == Array("01234567abc".utf8))
        let full = FileDescriptor(owning: open("/dev/full", O_WRONLY | O_CLOEXEC))
        #expect(bytes.withUnsafeBytes { full.writeAll($0, at: 0) } == ENOSPC)
    }
}
