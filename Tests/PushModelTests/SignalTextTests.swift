import Glibc
import PushModel
import Testing

@Suite("A signal for people")
struct SignalTextTests {
    @Test("has the name that the C library gives its number, and the usual cause for a service")
    func names() {
        let names = [
            SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
            SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL", SIGUSR1: "SIGUSR1",
            SIGSEGV: "SIGSEGV", SIGUSR2: "SIGUSR2", SIGPIPE: "SIGPIPE", SIGALRM: "SIGALRM", SIGTERM: "SIGTERM",
            SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGSYS: "SIGSYS",
        ]
        let causes = [
            SIGTRAP: ": often MemoryDenyWriteExecute=", SIGKILL: ": often out of memory: MemoryMax=",
            SIGSYS: ": often SystemCallFilter=",
        ]
        for number in 0...64 as ClosedRange<Int32> {
            let name = names[number].map { " (\($0)\(causes[number] ?? ""))" } ?? ""
            #expect(signalText(Int(number)) == "signal \(number)\(name)")
        }
    }
}
