/// A key that requests are signed by, as HMAC-SHA256 works with it: the secret itself is not kept, and cannot be had from it.
public struct SigningKey: Sendable {
    private var inner = SHA256()
    private var outer = SHA256()

    /// - Parameter secret: the bytes of the secret.
    init(_ secret: [UInt8]) {
        var block = secret
        if block.count > SHA256.blockSize {
            var hash = SHA256()
            hash.update(block)
            block = hash.digest()
        }
        block += [UInt8](repeating: 0, count: SHA256.blockSize - block.count)
        inner.update(block.map { $0 ^ 0x36 })
        outer.update(block.map { $0 ^ 0x5C })
        for index in block.indices { block[index] = 0 }
    }

    /// The code of a message that comes in parts, 32 bytes.
    func authenticationCode(of parts: [[UInt8]]) -> [UInt8] {
        var (inner, outer) = (inner, outer)
        for part in parts { inner.update(part) }
        outer.update(inner.digest())
        return outer.digest()
    }
}

/// What a secret file has: the keys that requests are signed by, as Standard Webhooks 1.0 writes them.
///
/// While a receiver changes its secret the file has the old one and the new one, a line each, and requests have a
/// signature by each. https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
public struct SigningKeys: Sendable {
    /// How many secrets a file has, at most.
    public static let countMax = 4
    /// How long a secret is, in bytes: shorter ones can be guessed, longer ones are no secrets of this kind.
    public static let secretLength = 16...128

    private let keys: [SigningKey]

    /// Reads a secret file. No error repeats any of it.
    ///
    /// - Parameter text: a line for each secret: Base64, with or without `whsec_` before it.
    /// - Throws: `SigningKeysFault`: what is wrong.
    public init(_ text: UnsafeRawBufferPointer) throws(SigningKeysFault) {
        var keys: [SigningKey] = []
        var number = 0
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let word = line.drop(while: \.isSpace)
            let end = word.lastIndex { !$0.isSpace }
            guard let end else { continue }
            keys.append(try Self.key(in: word[...end], line: number))
        }
        guard !keys.isEmpty else { throw SigningKeysFault(description: "has no secret") }
        guard keys.count <= Self.countMax else {
            throw SigningKeysFault(
                description: "has \(keys.count) secrets; at most \(Self.countMax) may be in use at once")
        }
        self.keys = keys
    }

    private static func key(
        in word: Slice<UnsafeRawBufferPointer>, line: Int
    ) throws(SigningKeysFault) -> SigningKey {
        if word.starts(with: "whsk_".utf8) || word.starts(with: "whpk_".utf8) {
            throw SigningKeysFault(description: "has an asymmetric key in line \(line); only whsec_ secrets are used")
        }
        let digits = word.starts(with: "whsec_".utf8) ? word.dropFirst(6) : word
        guard var bytes = Base64.decoded(digits) else {
            throw SigningKeysFault(
                description: "has something in line \(line) that is not Base64, with or without whsec_")
        }
        // Arrays are copied where nobody sees it; what can be overwritten is.
        defer { for index in bytes.indices { bytes[index] = 0 } }
        guard secretLength.contains(bytes.count) else {
            throw SigningKeysFault(
                description: "has a secret of \(bytes.count) bytes in line \(line); it must have from "
                    + "\(secretLength.lowerBound) to \(secretLength.upperBound)")
        }
        return SigningKey(bytes)
    }

    /// The value of `webhook-signature`: a signature by each key.
    ///
    /// - Parameters:
    ///   - id: `webhook-id`.
    ///   - timestamp: `webhook-timestamp`, in seconds.
    ///   - body: what is posted.
    public func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
        let head = Array("\(id).\(timestamp).".utf8)
        return keys.map { "v1,\(Base64.encoded($0.authenticationCode(of: [head, body])))" }.joined(separator: " ")
    }
}

/// What is wrong with a secret file; reads on after its name.
public struct SigningKeysFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// For people, without any of the secret.
    public let description: String
}

/// Base64 with padding (RFC 4648, 4).
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encoded(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << ((3 - group.count) * 8)
            for index in 0..<4 {
                let digit = alphabet[bits >> ((3 - index) * 6) & 63]
                text.append(index <= group.count ? digit : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes; `nil` when it is no Base64. The padding may be left out.
    static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits = 0
        var count = 0
        var padding = 0
        for byte in text {
            if byte == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let digit = alphabet.firstIndex(of: byte) else { return nil }
            bits = bits << 6 | digit
            count += 1
            if count % 4 == 0 { bytes += [UInt8(bits >> 16 & 255), UInt8(bits >> 8 & 255), UInt8(bits & 255)] }
        }
        guard padding == 0 || (count + padding) % 4 == 0, padding <= 2 else { return nil }
        switch count % 4 {
        case 0: break
        case 2: bytes.append(UInt8(bits >> 4 & 255))
        case 3: bytes += [UInt8(bits >> 10 & 255), UInt8(bits >> 2 & 255)]
        default: return nil
        }
        return bytes
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0D }
}
