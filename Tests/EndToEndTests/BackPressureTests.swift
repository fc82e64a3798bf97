import CTestProbe
import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("Back pressure", .timeLimit(.minutes(30)))
struct BackPressureTests {
    /// A daemon whose disk never completes a write: the log thread is stopped while this value lives.
    private struct StoppedLog: ~Copyable {
        private let thread: Int32

        init?(_ daemon: DaemonProcess) {
            guard let thread = threads(of: daemon.processID, named: "log").first,
                CTestProbe_stop_thread(thread) == 0
            else { return nil }
            self.thread = thread
        }

        deinit { CTestProbe_resume_thread(thread) }
    }

    @Test("while the disk takes nothing, clients wait and memory stays bounded; then all requests are acknowledged")
    func byBytes() throws {
        let installation = Installation("[Daemon]\nInFlightMax=1000000\nInFlightMaxPerPeer=1000000\n")
        let daemon = try DaemonProcess.ready(installation)
        guard let log = StoppedLog(daemon) else { return leaveUntested("threads cannot be stopped here") }
        let client = try RawClient(installation.injectSocket)
        // Just below the length of lines that a separate thread reads.
        let line = Requests.deliver(
            #""platform":"android","payload":{"data":{"k":"\#(String(repeating: "x", count: 15_000))"}}"#, waits: false)
        var sent = client.send(line)
        // A reply on the other socket proves a turn of the loop, which has read what it takes from this client.
        var turnsWithout = 0
        while turnsWithout < 20, sent < 64 << 20 {
            _ = try DaemonStatus(of: installation)
            let more = client.send(line)
            sent += more
            turnsWithout = more == 0 ? turnsWithout + 1 : 0
        }
        let waiting = try DaemonStatus(of: installation).number("bytes_waiting_for_disk")
        #expect(waiting > 8 << 20 && waiting < 12 << 20, "\(waiting) bytes wait for the disk")
        #expect(sent < 20 << 20, "\(sent) bytes were taken")
        // The disk works again.
        _ = consume log
        client.finishSending()
        #expect(client.lines() == client.complete)
        #expect(try DaemonStatus(of: installation).number("last_seq") == Int64(client.complete))
    }
}

/// A client that sends without waiting.
private final class RawClient {
    private let socket: Int32
    private var rest: ArraySlice<UInt8> = []
    /// The number of lines that were begun, which `finishSending()` completes.
    private(set) var complete = 0

    init(_ path: String) throws {
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
    }

    deinit { close(socket) }

    /// Sends a line as often as the socket takes it without waiting.
    ///
    /// - Returns: the number of bytes taken.
    func send(_ line: String) -> Int {
        var taken = 0
        while true {
            if rest.isEmpty {
                rest = Array((line + "\n").utf8)[...]
                complete += 1
            }
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            }
            guard count > 0, taken < 32 << 20 else { return taken }
            taken += count
            rest = rest.dropFirst(count)
        }
    }

    /// Sends the rest of the last line.
    func finishSending() {
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        shutdown(socket, Int32(SHUT_WR))
    }

    /// Returns the number of lines until the daemon closes the connection.
    func lines() -> Int {
        var (lines, chunk) = (0, [UInt8](repeating: 0, count: 1 << 16))
        while true {
            let count = recv(socket, &chunk, chunk.count, 0)
            guard count > 0 else { return lines }
            lines += chunk[..<count].count { $0 == UInt8(ascii: "\n") }
        }
    }
}
