import Glibc
import Testing

@testable import LinuxSystem

@Suite("Client", .timeLimit(.minutes(30)))
struct ClientTests {
    let directory = TemporaryDirectory()
    var path: String { directory.path + "/inject.sock" }

    @Test("reports a missing socket, one without a listener and a path that is too long as different errors")
    func namesWhyItCannotConnect() throws {
        let missing = #expect(throws: ClientError.self) { _ = try Client(path: path) }
        #expect(missing?.description == "there is no socket at \(path)")
        let dead = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #expect(SocketPath.withAddress(of: path) { bind(dead, $0, $1) } == 0)
        close(dead)
        let refused = #expect(throws: ClientError.self) { _ = try Client(path: path) }
        #expect(refused?.description == "no process listens on \(path): the process that made the socket has ended")
        let long = "/" + String(repeating: "x", count: 107)
        let tooLong = #expect(throws: ClientError.self) { _ = try Client(path: long) }
        #expect(tooLong?.description == "the socket path \(long) has 108 bytes; Linux takes 1 to 107")
    }

    @Test("reports a socket that this user may not use")
    func namesAMissingPermission() async {
        await #expect(processExitsWith: .success) {
            asOrdinaryUser { directory in
                let path = directory.path + "/inject.sock"
                guard let listener = try? Listener(path: path, mode: 0) else { fatalError("no listener") }
                do throws(ClientError) {
                    _ = try Client(path: path)
                    fatalError("connected")
                } catch {
                    guard error == .permissionDenied(path: path) else { fatalError("\(error)") }
                }
                withExtendedLifetime(listener) {}
            }
        }
    }

    @Test("sends lines and receives them, up to the end")
    func talks() throws {
        let (client, connection) = try connect()
        try client.send(line: "question")
        client.finishSending()
        let buffer = ReadBuffer()
        #expect(
            connection.read(using: buffer, maximumLineLength: 100) == .lines([Array("question".utf8)]))
        #expect(connection.read(using: buffer, maximumLineLength: 100) == .endOfFile(unterminated: nil))
        connection.queue("one\ntwo\nthree".utf8)
        #expect(connection.flush() == .done)
        shutdown((try connection.descriptor.rawValue), Int32(SHUT_WR))
        var lines: [String] = []
        while let line = try client.receiveLine() { lines.append(String(decoding: line, as: UTF8.self)) }
        #expect(lines == ["one", "two", "three"])
    }

    @Test("times out while it waits for a line, and can continue afterwards")
    func timesOut() throws {
        let (client, connection) = try connect()
        for timeout in [0, 5] {
            #expect(throws: ClientError.timedOut(path: path)) {
                _ = try client.receiveLine(timeoutMilliseconds: timeout)
            }
        }
        connection.queue("late\n".utf8)
        #expect(connection.flush() == .done)
        #expect(try client.receiveLine(timeoutMilliseconds: 0) == Array("late".utf8))
    }

    @Test("refuses a line that is too long, after the lines before it")
    func refusesLongLines() throws {
        let (client, connection) = try connect()
        connection.queue("ok\n123456\n".utf8)
        #expect(connection.flush() == .done)
        #expect(try client.receiveLine(maximumLength: 5) == Array("ok".utf8))
        #expect(throws: ClientError.lineTooLong(path: path, maximumLength: 5)) {
            _ = try client.receiveLine(maximumLength: 5)
        }
    }

    @Test("times out while the backlog stays full")
    func fullBacklog() throws {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(listener) }
        #expect(SocketPath.withAddress(of: path) { bind(listener, $0, $1) } == 0)
        #expect(listen(listener, 0) == 0)
        var waiting: [Client] = []
        // The kernel accepts one more than the backlog.
        #expect(throws: ClientError.timedOut(path: path)) {
            for _ in 0..<3 { waiting.append(try Client(path: path, timeoutMilliseconds: 50)) }
        }
        #expect(!waiting.isEmpty)
    }

    @Test("reports a closed connection when it sends")
    func tellsAClosedDaemon() throws {
        let client = try connect().0
        #expect(throws: ClientError.closed(path: path)) { try client.send(line: "anyone?") }
    }

    private func connect() throws -> (Client, Connection) {
        let listener = try Listener(path: path, mode: 0o600)
        let client = try Client(path: path)
        guard case .connection(let connection) = listener.accept() else { throw Unexpected() }
        return (client, connection)
    }
}
