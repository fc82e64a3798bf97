import Testing

@testable import LinuxSystem
@testable import pushctl

@Suite("Messages of pushctl about a daemon that does not answer")
struct UnansweredTests {
    @Test("repeat the last status that it gave to the service manager, if there is one")
    func status() {
        #expect(Failure.lastStatus("the start waits for room") == "its last status: the start waits for room\n")
        #expect(Failure.lastStatus(nil) == "")
    }
}
