import Glibc
import TestSupport
import Testing

/// Looks again and again, for states of the system that nobody announces.
func waitUntil(_ what: String, _ holds: () throws -> Bool) throws {
    let end = ContinuousClock.now + .milliseconds(patience)
    while try !holds() {
        try #require(ContinuousClock.now < end, "waited in vain until \(what)")
        usleep(1000)
    }
}

/// How often the heavy tests repeat themselves: `PUSH_TEST_ROUNDS`, 10 without it.
let rounds = number("PUSH_TEST_ROUNDS") ?? 10

/// The number in a variable of the environment.
func number(_ variable: String) -> Int? { getenv(variable).flatMap { Int(String(cString: $0)) } }

/// A named pipe through which handlers tell a test, a line at a time, what they do.
final class Messages {
    let path: String
    private let descriptor: Int32
    private var received: [UInt8] = []

    init(_ path: String) {
        self.path = path
        precondition(mkfifo(path, 0o600) == 0, "cannot make \(path)")
        // For writing too, so that it is never at its end.
        descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        precondition(descriptor >= 0, "cannot open \(path)")
    }

    deinit { close(descriptor) }

    /// Waits for the next line.
    func next() throws -> String {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeSubrange(...end) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            try #require(waitUntilReadable([descriptor], milliseconds: Int32(patience)) != nil, "no handler wrote")
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = read(descriptor, &chunk, chunk.count)
            if count > 0 { received += chunk[..<count] }
        }
    }

    /// Waits for this many process ids, a line each.
    func processes(_ count: Int) throws -> [Int32] {
        try (0..<count).map { _ in try #require(Int32(try next())) }
    }

    /// Writes lines that handlers wait for, each by reading one line.
    func send(_ line: String = "go", times: Int = 1) {
        let bytes = Array(String(repeating: line + "\n", count: times).utf8)
        precondition(write(descriptor, bytes, bytes.count) == bytes.count, "the pipe \(path) is full")
    }
}
