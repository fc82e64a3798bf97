import Glibc
import Testing

@testable import LinuxSystem

@Suite("The destination of entries", .timeLimit(.minutes(30)))
struct DestinationTests {
    @Test("is the journal only if standard error is the journal's stream")
    func detected() {
        var facts = stat()
        let descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        #expect(fstat(descriptor, &facts) == 0)
        let stream = "\(facts.st_dev):\(facts.st_ino)"
        #expect(JournalWriter.Destination.isJournal(descriptor, stream: stream))
        #expect(!JournalWriter.Destination.isJournal(descriptor, stream: "\(facts.st_dev):\(facts.st_ino + 1)"))
        #expect(!JournalWriter.Destination.isJournal(descriptor, stream: ""))
        #expect(!JournalWriter.Destination.isJournal(descriptor, stream: nil))
        #expect(!JournalWriter.Destination.isJournal(-1, stream: stream))
    }
}
