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

@Suite("The excerpt of what a program wrote")
struct ExcerptTests {
    @Test(
        "is the whole text up to 300 characters, and of a longer one the first 100 and the last 200",
        arguments: [1, 299, 300, 301, 1199, 1200, 1201, 5000])
    func length(_ count: Int) {
        let text = (0..<count).map { String($0 % 10) }.joined()
        let expected = count <= 300 ? text : "\(text.prefix(100)) ... \(text.suffix(200))"
        #expect(excerpt(of: Array(text.utf8)) == expected)
    }

    @Test("is one line without format characters, and none of a text without a visible character")
    func oneLine() {
        #expect(excerpt(of: Array(" a\n\t b\u{202E}c\u{2028}\u{A0}d \r\n".utf8)) == "a b\u{FFFD}c d")
        #expect(excerpt(of: [0x61, 0xFF, 0x62]) == "a\u{FFFD}b")
        #expect(excerpt(of: Array(" \n\t".utf8)) == nil && excerpt(of: []) == nil)
        let wide = String(repeating: "é", count: 301)
        #expect(excerpt(of: Array(wide.utf8)) == "\(wide.prefix(100)) ... \(wide.suffix(200))")
    }
}
