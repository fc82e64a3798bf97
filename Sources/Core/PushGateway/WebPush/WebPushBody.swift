/// The body of a web push, encrypted for a subscription.
///
/// Source: RFC 8188 and RFC 8291 for `aes128gcm`; draft-ietf-httpbis-encryption-encoding-03 and
/// draft-ietf-webpush-encryption-04 for `aesgcm`.
struct WebPushBody: Sendable {
    /// The parts that decrypt a body.
    private let salt: [UInt8]
    private let senderKey: [UInt8]
    private let sealed: [UInt8]
    /// Whether it has the old encoding `aesgcm`, whose keys are in headers.
    private let isOld: Bool

    /// The length of a public key, an uncompressed point.
    private static let keyLength = 65

    /// Reads a body, or the parameters of the old encoding.
    ///
    /// - Throws: why no browser could read it.
    init(_ bytes: [UInt8], salt: [UInt8]? = nil, senderKey: [UInt8]? = nil) throws(UnreadableBody) {
        isOld = salt != nil
        let size: Int
        if let salt {
            (self.salt, self.senderKey, sealed, size) = (salt, senderKey ?? [], bytes, 4096 + 16)
        } else {
            guard bytes.count > 21 else { throw .truncated(bytes.count) }
            size = bytes[16..<20].reduce(0) { $0 << 8 | Int($1) }
            guard size >= 18 else { throw .recordSize(size) }
            let length = Int(bytes[20])
            guard length == Self.keyLength else { throw .keyLength(length) }
            guard bytes.count > 21 + length else { throw .truncated(bytes.count) }
            self.salt = Array(bytes[..<16])
            self.senderKey = Array(bytes[21..<(21 + length)])
            sealed = Array(bytes[(21 + length)...])
        }
        guard self.salt.count == 16 else { throw .saltLength(self.salt.count) }
        guard self.senderKey.count == Self.keyLength else { throw .keyLength(self.senderKey.count) }
        guard sealed.count <= size else { throw .severalRecords(size) }
        guard sealed.count > 16 else { throw .truncated(bytes.count) }
    }

    /// Returns the text.
    ///
    /// - Throws: why no browser can read it.
    func text(
        for subscription: WebPushSubscription, _ cryptography: some WebPushCryptography
    ) throws(UnreadableBody) -> [UInt8] {
        guard let shared = cryptography.sharedSecret(subscription.privateKey, senderKey) else { throw .noPoint }
        let (key, nonce) = keys(shared, subscription, cryptography)
        guard let opened = cryptography.open(sealed, key: key, nonce: nonce) else { throw .truncated(sealed.count) }
        guard opened.isAuthentic else {
            throw Self.isText(isOld ? Array(opened.text.dropFirst(2)) : opened.text) ? .damaged : .otherKeys
        }
        return isOld ? try Self.withoutPadding(opened.text) : try Self.withoutDelimiter(opened.text)
    }

    private func keys(
        _ shared: [UInt8], _ subscription: WebPushSubscription, _ cryptography: some WebPushCryptography
    ) -> (key: [UInt8], nonce: [UInt8]) {
        func info(_ name: String) -> [UInt8] { Array("Content-Encoding: \(name)\0".utf8) }
        if isOld {
            let secret = cryptography.derive(32, from: shared, salt: subscription.secret, info: info("auth"))
            let context = Array("P-256\0\0\u{41}".utf8) + subscription.publicKey + [0, 0x41] + senderKey
            return (
                cryptography.derive(16, from: secret, salt: salt, info: info("aesgcm") + context),
                cryptography.derive(12, from: secret, salt: salt, info: info("nonce") + context)
            )
        }
        let own = Array("WebPush: info\0".utf8) + subscription.publicKey + senderKey
        let secret = cryptography.derive(32, from: shared, salt: subscription.secret, info: own)
        return (
            cryptography.derive(16, from: secret, salt: salt, info: info("aes128gcm")),
            cryptography.derive(12, from: secret, salt: salt, info: info("nonce"))
        )
    }

    /// Removes the zeros at the end, and the delimiter before them: 2 ends the last record.
    private static func withoutDelimiter(_ text: [UInt8]) throws(UnreadableBody) -> [UInt8] {
        guard let place = text.lastIndex(where: { $0 != 0 }) else { throw .delimiter(nil) }
        guard text[place] == 2 else { throw .delimiter(text[place]) }
        return Array(text[..<place])
    }

    /// Removes the padding in front: its length in two bytes, and as many zeros.
    private static func withoutPadding(_ text: [UInt8]) throws(UnreadableBody) -> [UInt8] {
        guard text.count >= 2 else { throw .padding }
        let length = Int(text[0]) << 8 | Int(text[1])
        guard text.count >= 2 + length, text[2..<(2 + length)].allSatisfy({ $0 == 0 }) else { throw .padding }
        return Array(text[(2 + length)...])
    }

    /// Whether bytes begin like a text: with the right key also a damaged body does, and with another one 8 bytes are
    /// all printable once in 2,800 times.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 8 && bytes.prefix(8).allSatisfy { 0x20...0x7E ~= $0 }
    }
}

/// Why no browser can read the body of a push. The push service does not look inside: it answers 201.
enum UnreadableBody: Error, Hashable, Sendable {
    case truncated(Int)
    case recordSize(Int)
    case keyLength(Int)
    case saltLength(Int)
    case severalRecords(Int)
    case noPoint
    case otherKeys
    case damaged
    case delimiter(UInt8?)
    case padding

    /// The word for programs.
    var word: String {
        switch self {
        case .truncated: "truncated"
        case .recordSize: "record_size"
        case .keyLength: "key_length"
        case .saltLength: "salt_length"
        case .severalRecords: "several_records"
        case .noPoint: "no_point"
        case .otherKeys: "other_keys"
        case .damaged: "damaged"
        case .delimiter: "delimiter"
        case .padding: "padding"
        }
    }

    /// The cause, for people.
    var cause: String {
        switch self {
        case .truncated(let count): "the body of \(count) bytes is cut off: it has no whole header, text and tag"
        case .recordSize(let size): "rs, the record size, is \(size), and the least is 18 (RFC 8188, 2.1)"
        case .keyLength(let length): "the sender's public key has \(length) bytes, and an uncompressed point has 65"
        case .saltLength(let length): "the salt has \(length) bytes, and 16 are needed"
        case .severalRecords(let size):
            "the body has more than one record of \(size) bytes, and web push takes one (RFC 8291, 4)"
        case .noPoint: "the sender's public key is no point on P-256"
        case .otherKeys:
            "it is encrypted for other keys: p256dh or auth is that of another subscription, or the text was changed"
        case .damaged: "the keys are right, and the body was cut off or changed after its encryption"
        case .delimiter(1?): "the delimiter is 1, so another record would follow; the last record ends with 2"
        case .delimiter(let byte?): "the delimiter is \(byte), and the last record ends with 2 (RFC 8188, 2)"
        case .delimiter(nil): "the text has no delimiter, only zeros (RFC 8188, 2)"
        case .padding: "the padding of aesgcm is longer than the text, or not of zeros"
        }
    }
}
