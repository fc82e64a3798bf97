import Glibc
import TestSupport
import Testing

/// Polls a condition, for states of the system without an event.
func waitUntil(_ what: String, _ holds: () throws -> Bool) throws {
    let end = ContinuousClock.now + .milliseconds(patience)
    while try !holds() {
        try #require(ContinuousClock.now < end, "waited in vain until \(what)")
        usleep(1000)
    }
}

/// The number of repetitions of the heavy tests: `PUSH_TEST_ROUNDS`; default 10.
let rounds = number("PUSH_TEST_ROUNDS") ?? 10

/// Returns the number in an environment variable.
func number(_ variable: String) -> Int? { getenv(variable).flatMap { Int(String(cString: $0)) } }

/// A named pipe through which handlers report to a test, a line at a time.
final class Messages {
    let path: String
    private let descriptor: Int32
    private var received: [UInt8] = []

    init(_ path: String) {
        self.path = path
        precondition(mkfifo(path, 0o600) == 0, "cannot make \(path)")
        // Open for writing too, so that it never reaches end-of-file.
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

    /// Waits for this many process ids, one per line.
    func processes(_ count: Int) throws -> [Int32] {
        try (0..<count).map { _ in try #require(Int32(try next())) }
    }

    /// Writes lines for waiting handlers, which read one line each.
    func send(_ line: String = "go", times: Int = 1) {
        let bytes = Array(String(repeating: line + "\n", count: times).utf8)
        precondition(write(descriptor, bytes, bytes.count) == bytes.count, "the pipe \(path) is full")
    }
}
