import Glibc
import Testing

@testable import LinuxSystem

/// A connection and the plain descriptor of its other end.
final class Wire {
    let connection: Connection
    private(set) var far: Int32

    init() {
        var descriptors: [Int32] = [-1, -1]
        precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &descriptors) == 0)
        connection = Connection(owning: FileDescriptor(owning: descriptors[0]))
        far = descriptors[1]
    }

    deinit { closeFar() }

    func send(_ text: String) {
        precondition(write(far, text, text.utf8.count) == text.utf8.count)
    }

    func closeFar() {
        guard far >= 0 else { return }
        // A program that another test is starting may have a copy for a moment.
        shutdown(far, Int32(SHUT_RDWR))
        close(far)
        far = -1
    }
}

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

@Suite("Connection, reading", .timeLimit(.minutes(30)))
struct ConnectionReadingTests {
    let wire = Wire()

    private func read(bufferSize: Int = 4096, limit: Int = 100) -> ReadResult {
        wire.connection.read(using: ReadBuffer(size: bufferSize), maximumLineLength: limit)
    }

    @Test("splits the bytes at line feeds, empty lines included")
    func cutsLines() {
        wire.send("one\n\ntwo\nthr")
        #expect(read() == .lines([bytes("one"), [], bytes("two")]))
        wire.send("ee")
        #expect(read() == .lines([]))
        wire.send("\n")
        #expect(read() == .lines([bytes("three")]))
        #expect(read() == .wouldBlock)
    }

    @Test("returns the same lines however the reads split them", arguments: 1...14)
    func cutsAcrossReads(bufferSize: Int) {
        wire.send("alpha\n\nbeta\ngamma")
        wire.closeFar()
        var lines: [[UInt8]] = []
        while true {
            switch read(bufferSize: bufferSize) {
            case .lines(let more): lines += more
            case .endOfFile(let unterminated):
                #expect(lines == [bytes("alpha"), [], bytes("beta")])
                #expect(unterminated == bytes("gamma"))
                return
            case let other:
                Issue.record("\(other)")
                return
            }
        }
    }

    @Test("reads at most one buffer at a time")
    func isFair() {
        wire.send("12\n34\n56\n")
        #expect(read(bufferSize: 6) == .lines([bytes("12"), bytes("34")]))
    }

    @Test("reports the end, and a last line without a line feed, once")
    func tellsTheEnd() {
        wire.send("whole\n")
        wire.closeFar()
        #expect(read() == .lines([bytes("whole")]))
        #expect(read() == .endOfFile(unterminated: nil))
        #expect(read() == .endOfFile(unterminated: nil))
    }

    @Test("accepts a line of exactly the allowed length, whole or in pieces", arguments: [3, 4096])
    func takesTheLongestLine(bufferSize: Int) {
        wire.send("12345\n")
        var lines: [[UInt8]] = []
        while case .lines(let more) = read(bufferSize: bufferSize, limit: 5) { lines += more }
        #expect(lines == [bytes("12345")])
    }

    @Test("refuses a line once it is too long, after the lines before it; then discards")
    func refusesLongLines() {
        wire.send("ok\n123456")
        #expect(read(limit: 5) == .tooLong(after: [bytes("ok")]))
        wire.send("7\nnot a request any more\n")
        #expect(read(limit: 5) == .lines([]))
        #expect(read(limit: 5) == .wouldBlock)
        wire.closeFar()
        #expect(read(limit: 5) == .endOfFile(unterminated: nil))
    }

    @Test("refuses a long line that grows over several reads, and one followed by others")
    func refusesGrowingLines() {
        wire.send("1234")
        #expect(read(limit: 5) == .lines([]))
        wire.send("56\n")
        #expect(read(limit: 5) == .tooLong(after: []))
        let other = Wire()
        other.send("123456\nshort\n")
        #expect(other.connection.read(using: ReadBuffer(), maximumLineLength: 5) == .tooLong(after: []))
    }

    // A peer that closes with unread replies causes ECONNRESET, but only after the bytes that it sent.
    @Test("reads the bytes of a peer that did not wait for its replies")
    func survivesAReset() {
        wire.connection.queue(bytes("reply\n"))
        #expect(wire.connection.flush() == .done)
        wire.send("request\nlast")
        wire.closeFar()
        #expect(read() == .lines([bytes("request")]))
        #expect(read() == .endOfFile(unterminated: bytes("last")))
    }
}
