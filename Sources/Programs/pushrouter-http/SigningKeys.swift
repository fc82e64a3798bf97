import CCrypto
import HTTPClient
import PushModel
import PushRouter
import PushSettings

/// The keys of a secret file that sign requests, in the form of Standard Webhooks 1.0.
///
/// While a receiver changes its secret the file has the old one and the new one, one on each line, and requests have a
/// signature by each. https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
struct SigningKeys {
    /// The most secrets in a file.
    static let countMax = 4
    /// The length of a secret in bytes: shorter ones can be guessed, longer ones are no webhook secrets.
    static let secretLength = 16...128

    private let keys: [Secret]

    /// Parses a secret file. No error contains any part of it.
    ///
    /// - Parameter text: one line for each secret: Base64, with or without the prefix `whsec_`.
    /// - Throws: `SigningKeysFault` with the error.
    init(_ text: UnsafeRawBufferPointer) throws(SigningKeysFault) {
        var keys: [Secret] = []
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
    ) throws(SigningKeysFault) -> Secret {
        if word.starts(with: "whsk_".utf8) || word.starts(with: "whpk_".utf8) {
            throw SigningKeysFault(description: "has an asymmetric key in line \(line); only whsec_ secrets are used")
        }
        let digits = word.starts(with: "whsec_".utf8) ? word.dropFirst(6) : word
        guard var bytes = Base64.decoded(digits) else {
            throw SigningKeysFault(
                description: "has something in line \(line) that is not Base64, with or without whsec_")
        }
        // The decoded array may have been copied; at least this copy is overwritten.
        defer { for index in bytes.indices { bytes[index] = 0 } }
        guard secretLength.contains(bytes.count) else {
            throw SigningKeysFault(
                description: "has a secret of \(bytes.count) bytes in line \(line); it must have from "
                    + "\(secretLength.lowerBound) to \(secretLength.upperBound)")
        }
        return Secret(capacity: bytes.count) { (memory: UnsafeMutableRawBufferPointer) -> Int in
            memory.copyBytes(from: bytes)
            return bytes.count
        }
    }

    /// The value of `webhook-signature`: one signature by each key.
    ///
    /// - Parameters:
    ///   - id: `webhook-id`.
    ///   - timestamp: `webhook-timestamp`, in seconds.
    ///   - body: the body of the request.
    func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
        let message = Array("\(id).\(timestamp).".utf8) + body
        return keys.map { "v1,\(Base64.encoded($0.authenticationCode(of: message)))" }.joined(separator: " ")
    }
}

extension HTTPRequest {
    /// Adds the headers of Standard Webhooks: the id, the time, and one signature by each key.
    mutating func sign(by keys: SigningKeys, at now: WallTime) {
        headers.append("webhook-id", id)
        headers.append("webhook-timestamp", String(now.seconds))
        headers.append("webhook-signature", keys.signature(id: id, timestamp: now.seconds, body: body))
    }
}

extension Secret {
    /// HMAC-SHA256 of a message with this key, 32 bytes.
    fileprivate func authenticationCode(of message: [UInt8]) -> [UInt8] {
        withBytes { key in
            var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var length: UInt32 = 0
            let made = HMAC(EVP_sha256(), key.baseAddress, Int32(key.count), message, message.count, &code, &length)
            guard made != nil else { preconditionFailure("libcrypto has no memory to sign a request") }
            return Array(code.prefix(Int(length)))
        }
    }
}

/// An error in a secret file; a message continues with it after the file's name.
struct SigningKeysFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text for people, without any part of the secret.
    let description: String
}

/// Base64 with padding (RFC 4648, 4).
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encoded(_ bytes: [UInt8]) -> String {
        // Four digits for every three bytes, and a NUL.
        String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4 + 1) { text in
            Int(EVP_EncodeBlock(text.baseAddress, bytes, Int32(bytes.count)))
        }
    }

    /// Decodes Base64, with or without padding; `nil` for other text.
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
