import Glibc
import Testing

@testable import LinuxSystem

// NOTIFY_SOCKET belongs to the whole process, so each test runs in its own.
@Suite("Notify", .timeLimit(.minutes(30)))
struct NotifyTests {
    @Test("sends the service manager one message a call")
    func tellsTheServiceManager() async {
        await #expect(processExitsWith: .success) {
            let manager = try FakeServiceManager()
            Notify.ready(status: "2 handlers")
            Notify.status("1 in flight")
            Notify.reloading(nowNanoseconds: 1_234_567_890)
            Notify.stopping(status: "waiting")
            let received = (0..<4).map { _ in manager.receive() }
            let expected = [
                "READY=1\nSTATUS=2 handlers", "STATUS=1 in flight", "RELOADING=1\nMONOTONIC_USEC=1234567",
                "STOPPING=1\nSTATUS=waiting",
            ]
            guard received == expected else { fatalError("\(received)") }
        }
    }

    @Test("keeps a status with line feeds from adding other assignments")
    func keepsStatusOnOneLine() async {
        await #expect(processExitsWith: .success) {
            let manager = try FakeServiceManager()
            guard Notify.status("bad\nMAINPID=1\r\nX=1") else { fatalError("not sent") }
            let received = manager.receive()
            guard received == "STATUS=bad MAINPID=1 X=1" else { fatalError(received) }
        }
    }

    @Test(
        "does not wait for a service manager that does not read: a message without room is sent before the next one")
    func doesNotWait() async {
        await #expect(processExitsWith: .success) {
            // SIGALRM ends a process that waits for ever.
            alarm(60)
            let manager = try FakeServiceManager()
            var sent = 0
            while Notify.status("\(sent)") {
                sent += 1
                guard sent < 100_000 else { fatalError("the queue has no end") }
            }
            guard !Notify.watchdog(), !Notify.ready(status: "late") else { fatalError("there was no room") }
            for number in 0..<sent {
                guard manager.receive() == "STATUS=\(number)" else { fatalError("\(number) is lost") }
            }
            guard Notify.watchdog() else { fatalError("there is room") }
            let received = (0..<4).map { _ in manager.receive() }
            guard received == ["STATUS=\(sent)", "WATCHDOG=1", "READY=1\nSTATUS=late", "WATCHDOG=1"] else {
                fatalError("\(received)")
            }
        }
    }

    @Test("does nothing without a service manager, or with one that is gone")
    func doesNothingAlone() async {
        await #expect(processExitsWith: .success) {
            unsetenv("NOTIFY_SOCKET")
            guard !Notify.ready(status: "alone") else { fatalError("sent to nobody") }
            setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1)
            guard !Notify.ready(status: "alone") else { fatalError("sent to nobody") }
        }
    }
}
