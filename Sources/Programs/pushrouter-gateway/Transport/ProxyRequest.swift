import PushGateway
import PushSettings

/// The request of a client for a tunnel (`CONNECT`, RFC 9110, 9.3.6).
enum ProxyRequest: Equatable {
    /// The request is incomplete.
    case incomplete
    /// The tunnel leads to a push service; the length of the request in bytes.
    case granted(length: Int)
    /// The tunnel leads elsewhere, or the request is wrong; the response.
    case refused([UInt8])

    static let mark = Array("CONNECT ".utf8)
    static let established = Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)
    /// The longest request, in bytes.
    static let longest = 8192

    /// - Parameters:
    ///   - bytes: the input so far, beginning with ``mark``.
    ///   - isLocal: whether the client is on this machine.
    init(_ bytes: [UInt8], isLocal: Bool) {
        guard let end = Self.end(of: bytes) else {
            self = bytes.count > Self.longest ? .refused(Self.answer(431, "the request is too long")) : .incomplete
            return
        }
        let line = bytes.prefix { $0 != 0x0D && $0 != 0x0A }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard words.count == 3, words[2].hasPrefix("HTTP/1."), let colon = words[1].lastIndex(of: ":") else {
            self = .refused(Self.answer(400, "the request is no CONNECT HOST:PORT HTTP/1.1"))
            return
        }
        let (host, port) = (words[1][..<colon], words[1][words[1].index(after: colon)...])
        guard isLocal else {
            self = .refused(Self.answer(403, "tunnels are for clients on this machine"))
            return
        }
        // Apple's service listens on 2197, too, for networks that block 443.
        let service = host.contains(":") ? .other : PushHost(authority: String(host))
        let hasPort = port == "443" || port == "2197" && service.has(.apns(isSandbox: false)) && service != .other
        guard service != .other, hasPort else {
            self = .refused(
                Self.answer(403, "\(words[1]) is no push service: set NO_PROXY for it, or use another proxy"))
            return
        }
        self = .granted(length: end)
    }

    private static func end(of bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (3..<bytes.count).first { place in
            bytes[place] == 0x0A && bytes[place - 1] == 0x0D && bytes[place - 2] == 0x0A && bytes[place - 3] == 0x0D
        }.map { $0 + 1 }
    }

    private static func answer(_ status: Int, _ sentence: String) -> [UInt8] {
        let text = "pushrouter-gateway: \(sentence)\n"
        let phrase = [400: "Bad Request", 403: "Forbidden", 431: "Request Header Fields Too Large"][status] ?? ""
        return Array(
            ("HTTP/1.1 \(status) \(phrase)\r\ncontent-type: text/plain; charset=utf-8\r\n"
                + "content-length: \(text.utf8.count)\r\nconnection: close\r\n\r\n\(text)").utf8)
    }
}
