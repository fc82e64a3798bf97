import Glibc
import Testing

@testable import LinuxSystem

@Suite("Connection, writing", .timeLimit(.minutes(30)))
struct ConnectionWritingTests {
    let wire = Wire()

    private func receive(_ count: Int) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        let received = read(wire.far, &buffer, count)
        return Array(buffer.prefix(max(0, received)))
    }

    @Test("sends the queued bytes, in order and in one piece")
    func sendsInOnePiece() {
        wire.connection.queue("one\n".utf8)
        wire.connection.queue("two\n".utf8)
        #expect(wire.connection.pendingBytes == 8)
        #expect(wire.connection.flush() == .done)
        #expect(wire.connection.pendingBytes == 0)
        #expect(receive(100) == Array("one\ntwo\n".utf8))
        #expect(wire.connection.flush() == .done)
    }

    @Test("keeps the bytes that a slow peer does not read, and loses none")
    func waitsForASlowPeer() {
        // 251 is prime, so that a lost or repeated piece shows.
        let sent = (0..<3_000_000).map { UInt8($0 % 251) }
        var received: [UInt8] = []
        var offset = 0
        var blocked = 0
        while received.count < sent.count {
            if offset < sent.count {
                wire.connection.queue(sent[offset..<min(offset + 400_000, sent.count)])
                offset = min(offset + 400_000, sent.count)
            }
            if wire.connection.flush() == .wouldBlock { blocked += 1 }
            received += receive(100_000)
        }
        #expect(received == sent)
        #expect(blocked > 0)
        #expect(wire.connection.flush() == .done)
    }

    // Without MSG_NOSIGNAL, SIGPIPE would end the process.
    @Test("reports a closed peer, and drops the bytes queued for it")
    func tellsAClosedPeer() {
        wire.closeFar()
        wire.connection.queue("reply\n".utf8)
        #expect(wire.connection.flush() == .closed)
        #expect(wire.connection.pendingBytes == 0)
    }

    @Test("still reaches a peer that has shut down its sending side")
    func reachesAHalfClosedPeer() {
        #expect(shutdown(wire.far, Int32(SHUT_WR)) == 0)
        let buffer = ReadBuffer()
        #expect(wire.connection.read(using: buffer, maximumLineLength: 10) == .endOfFile(unterminated: nil))
        wire.connection.queue("reply\n".utf8)
        #expect(wire.connection.flush() == .done)
        #expect(receive(100) == Array("reply\n".utf8))
    }
}
