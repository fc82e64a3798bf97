import TestSupport
import Testing

@testable import HTTPServer
@testable import pushrouter_gateway

@Suite("Tunnels of the gateway")
struct ProxyRequestTests {
    private func read(_ text: String, isLocal: Bool = true) -> ProxyRequest {
        ProxyRequest(Array(text.utf8), isLocal: isLocal)
    }

    private func status(_ request: ProxyRequest) -> String? {
        guard case .refused(let answer) = request else { return nil }
        return String(decoding: answer.dropFirst(9).prefix(3), as: UTF8.self)
    }

    @Test("lead to the push hosts on port 443, from this machine only")
    func hosts() {
        let good = "CONNECT fcm.googleapis.com:443 HTTP/1.1\r\nHost: fcm.googleapis.com:443\r\n\r\n"
        #expect(read(good) == .granted(length: good.utf8.count))
        // The bytes after the request are the client's first TLS message.
        #expect(read(good + "\u{16}abc") == .granted(length: good.utf8.count))
        #expect(status(read(good, isLocal: false)) == "403")
        for place in [
            "bank.example:443", "fcm.googleapis.com:22", "fcm.googleapis.com.evil.example:443", "127.0.0.1:443",
        ] {
            #expect(status(read("CONNECT \(place) HTTP/1.1\r\n\r\n")) == "403", "\(place)")
        }
    }

    @Test("wait for the end of the request, up to a limit")
    func ends() {
        #expect(read("CONNECT fcm.googleapis.com:443 HTTP/1.1\r\nHost: a\r\n") == .incomplete)
        #expect(status(read("CONNECT " + String(repeating: "x", count: 9000))) == "431")
        for text in ["CONNECT fcm.googleapis.com HTTP/1.1\r\n\r\n", "CONNECT a:443\r\n\r\n", "CONNECT \r\n\r\n"] {
            #expect(status(read(text)) == "400", "\(text)")
        }
    }
}

@Suite("Peers of the gateway")
struct PeerTests {
    @Test("are identified by address, by the first 64 bits of an IPv6 one; those on this machine are distinguished")
    func addresses() {
        #expect(Acceptor.address([192, 0, 2, 1]) == .address("192.0.2.1"))
        #expect(Acceptor.address([127, 0, 0, 2]) == .loopback("127.0.0.2"))
        let zeros = [UInt8](repeating: 0, count: 10)
        #expect(Acceptor.address(zeros + [0xFF, 0xFF, 192, 0, 2, 1]) == .address("192.0.2.1"))
        #expect(Acceptor.address(zeros + [0, 0, 0, 0, 0, 1]) == .loopback("::1"))
        let one = Acceptor.address([0x20, 1, 0x0D, 0xB8, 0, 0, 0, 7] + [UInt8](repeating: 1, count: 8))
        let other = Acceptor.address([0x20, 1, 0x0D, 0xB8, 0, 0, 0, 7] + [UInt8](repeating: 2, count: 8))
        #expect(one == other && one == .address("2001:db8:0:7::/64"))
        #expect(
            ClientPeer.user(0).isLocal && ClientPeer.loopback("::1").isLocal && !ClientPeer.address("192.0.2.1").isLocal
        )
    }
}

@Suite("Lines of the gateway's clients")
struct FairLinesTests {
    @Test("are sent connection by connection, in order within each, and none is lost")
    func turns() {
        var lines = FairLineQueue<String>()
        for number in 1...4 { lines.append("a\(number)", of: 1) }
        lines.append("b1", of: 2)
        #expect(lines.popFirst() == "a1")
        lines.append("c1", of: 3)
        lines.append("b2", of: 2)
        var left: [String] = []
        while let line = lines.popFirst() { left.append(line) }
        #expect(left == ["b1", "a2", "c1", "b2", "a3", "a4"])
        #expect(lines.count == 0)
    }

    @Test("of a client with little traffic wait for at most one line of each other client")
    func fairness() {
        var generator = SeededGenerator(seed: 5)
        var lines = FairLineQueue<UInt64>()
        for _ in 0..<5000 {
            let connection = UInt64.random(in: 1...20, using: &generator)
            lines.append(connection, of: connection)
        }
        lines.append(99, of: 99)
        var before = 0
        while let line = lines.popFirst(), line != 99 { before += 1 }
        #expect(before <= 20)
    }
}
