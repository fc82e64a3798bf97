/// Frames of an HTTP/2 client, byte by byte, valid or invalid (RFC 9113).
struct HTTP2Client {
    private(set) var bytes: [UInt8] = []

    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    init(begins: Bool = true) {
        guard begins else { return }
        bytes = Self.preface
        frame(4)
    }

    /// A frame of any kind.
    mutating func frame(_ kind: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) {
        let length = payload.count
        bytes += [UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255), kind, flags]
        bytes += [UInt8(stream >> 24 & 127), UInt8(stream >> 16 & 255), UInt8(stream >> 8 & 255), UInt8(stream & 255)]
        bytes += payload
    }

    /// A header field without the table of HPACK (RFC 7541, 6.2.2).
    static func header(_ name: String, _ value: String) -> [UInt8] { [0] + text(name) + text(value) }

    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var rest = bytes.count - 127
        var length: [UInt8] = [127]
        while rest >= 128 {
            length.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return length + [UInt8(rest)] + bytes
    }

    /// The headers of a POST; aioapns sends `host` and no `:authority`.
    mutating func post(
        _ path: String, stream: UInt32, host: (name: String, value: String) = (":authority", "api.push.apple.com"),
        others: [(String, String)] = [], ends: Bool = false
    ) {
        var block = Self.header(":method", "POST") + Self.header(":scheme", "https") + Self.header(":path", path)
        if host.name == ":authority" { block += Self.header(host.name, host.value) }
        if host.name != ":authority" { block += Self.header(host.name, host.value) }
        for (name, value) in others { block += Self.header(name, value) }
        frame(1, flags: 4 | (ends ? 1 : 0), stream: stream, block)
    }

    mutating func data(_ text: String, stream: UInt32, ends: Bool = true) {
        frame(0, flags: ends ? 1 : 0, stream: stream, Array(text.utf8))
    }

    mutating func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    /// The frames in a server's bytes: kind, stream and payload.
    static func frames(_ bytes: [UInt8]) -> [(kind: UInt8, stream: UInt32, payload: [UInt8])] {
        var frames: [(UInt8, UInt32, [UInt8])] = []
        var rest = bytes[...]
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            let stream = UInt32(head[5]) << 24 | UInt32(head[6]) << 16 | UInt32(head[7]) << 8 | UInt32(head[8])
            frames.append((head[3], stream, Array(rest.dropFirst(9).prefix(length))))
            rest = rest.dropFirst(9 + length)
        }
        return frames
    }
}
