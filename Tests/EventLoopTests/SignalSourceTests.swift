import Glibc
import Testing

@testable import LinuxSystem

@Suite("SignalSource", .timeLimit(.minutes(30)))
struct SignalSourceTests {
    @Test("calls its handler for a signal to the process")
    func deliversSignals() async {
        await #expect(processExitsWith: .exitCode(3)) {
            SignalSource.block([SIGTERM, SIGHUP])
            let loop = try EventLoop()
            let hangup = try SignalSource(loop: loop, signal: SIGHUP) { fatalError("nobody sent this") }
            let terminate = try SignalSource(loop: loop, signal: SIGTERM) { loop.exit(code: 3) }
            pthread_kill(pthread_self(), SIGTERM)
            let code = try loop.run()
            withExtendedLifetime((hangup, terminate)) {}
            exit(code)
        }
    }

    @Test("refuses an unblocked signal, which would kill the process")
    func refusesUnblockedSignals() throws {
        // The test library's threads block all signals; this one may have another mask.
        var windowChange = sigset_t()
        sigemptyset(&windowChange)
        sigaddset(&windowChange, SIGWINCH)
        pthread_sigmask(SIG_UNBLOCK, &windowChange, nil)
        let loop = try EventLoop()
        let error = #expect(throws: SystemError.self) {
            _ = try SignalSource(loop: loop, signal: SIGWINCH) {}
        }
        #expect(error?.description == "cannot watch for signal \(SIGWINCH): Device or resource busy (errno 16)")
    }
}
