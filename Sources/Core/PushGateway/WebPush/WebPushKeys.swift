import PushRouter

/// The primitives of web push's cryptography. The core takes them as an argument, since it links no library.
public protocol WebPushCryptography: Sendable {
    /// HMAC-SHA256 of a message.
    func code(of message: [UInt8], key: [UInt8]) -> [UInt8]
    /// The public key of a private one on P-256, an uncompressed point.
    func publicKey(of number: [UInt8]) -> [UInt8]
    /// The secret that two keys on P-256 share; `nil`: the other one is no point on the curve.
    func sharedSecret(_ number: [UInt8], _ point: [UInt8]) -> [UInt8]?
    /// The plaintext of AES-128-GCM, and whether its tag fits; `nil`: there are fewer bytes than a tag has.
    func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) -> (text: [UInt8], isAuthentic: Bool)?
    /// Whether the owner of a public key made an ES256 signature of these bytes.
    func isSignature(_ signature: [UInt8], of bytes: [UInt8], by point: [UInt8]) -> Bool
}

extension WebPushCryptography {
    /// HKDF (RFC 5869) with SHA-256, for at most 32 bytes.
    func derive(_ count: Int, from secret: [UInt8], salt: [UInt8], info: [UInt8]) -> [UInt8] {
        Array(code(of: info + [1], key: code(of: secret, key: salt)).prefix(count))
    }
}

/// One subscription: its endpoint and the keys of the browser that it stands for.
struct WebPushSubscription: Hashable, Sendable {
    /// The last part of the endpoint, which is also the token of the device.
    let id: String
    /// The public key, an uncompressed point (`p256dh`).
    let publicKey: [UInt8]
    /// The private key.
    let privateKey: [UInt8]
    /// The shared secret with the sender (`auth`), 16 bytes.
    let secret: [UInt8]
}

/// All keys of web push. One secret makes them, so whoever keeps that file and the ledger keeps every subscription.
///
/// The id of an endpoint is 16 random bytes, for a subscription of one sender 16 bytes about the sender's key, and a code
/// of 16 bytes, by which the gateway knows its own ids without a look at anything.
public struct WebPushKeys: Sendable {
    /// The length of the secret, in bytes.
    public static let secretLength = 32
    private static let partLength = 16

    /// The purposes of ids.
    enum Purpose: String {
        /// An endpoint, which is a secret of the subscription's owner.
        case endpoint
        /// A message, which its sender may withdraw.
        case message
    }

    let cryptography: any WebPushCryptography
    private let secret: [UInt8]

    /// - Parameter secret: ``secretLength`` random bytes.
    public init(secret: [UInt8], _ cryptography: any WebPushCryptography) {
        (self.secret, self.cryptography) = (secret, cryptography)
    }

    private func derived(_ purpose: String, _ bytes: [UInt8]) -> [UInt8] {
        cryptography.code(of: Array("web push \(purpose)\0".utf8) + bytes, key: secret)
    }

    private func part(_ purpose: String, _ bytes: [UInt8]) -> [UInt8] {
        Array(derived(purpose, bytes).prefix(Self.partLength))
    }

    /// Makes a new id.
    ///
    /// - Parameter sender: the public key of the only sender of a subscription; `nil`: any sender.
    func makeID(
        _ purpose: Purpose, for sender: [UInt8]? = nil, using generator: inout some RandomNumberGenerator
    ) -> String {
        var bytes: [UInt8] = []
        for _ in 0..<2 { withUnsafeBytes(of: generator.next()) { bytes += $0 } }
        if let sender { bytes += part("sender", sender) }
        return Base64URL.encoded(bytes + part(purpose.rawValue, bytes))
    }

    /// Whether this gateway made an id. The time does not depend on where a wrong code differs.
    func isOwn(_ id: String, _ purpose: Purpose) -> Bool { contents(of: id, purpose) != nil }

    /// The bytes of an id before its code; `nil`: this gateway did not make it.
    private func contents(of id: String, _ purpose: Purpose) -> [UInt8]? {
        // Exactly the lengths of 32 and 48 bytes: one id has one text.
        guard [43, 64].contains(id.utf8.count), let bytes = Base64URL.decoded(id.utf8) else { return nil }
        let own = Array(bytes.dropLast(Self.partLength))
        let code = part(purpose.rawValue, own)
        let difference = zip(code, bytes.suffix(Self.partLength)).reduce(into: UInt8(0)) { $0 |= $1.0 ^ $1.1 }
        return difference == 0 ? own : nil
    }

    /// Whether a subscription takes pushes of one sender alone.
    func hasSender(_ id: String) -> Bool { id.utf8.count > 43 }

    /// Whether a subscription takes the pushes of a sender. The id must be this gateway's.
    func isSender(_ key: [UInt8], of id: String) -> Bool {
        guard hasSender(id) else { return true }
        return Base64URL.decoded(id.utf8).map { Array($0[Self.partLength..<(2 * Self.partLength)]) }
            == part("sender", key)
    }

    /// The subscription of an id, which must be this gateway's.
    func subscription(_ id: String) -> WebPushSubscription {
        let bytes = Array(id.utf8)
        // A number that is not below the order of P-256 is drawn once in 2^32 times.
        let numbers = (UInt8.min...UInt8.max).lazy.map { derived("private key", [$0] + bytes) }
        let number = numbers.first { $0.lexicographicallyPrecedes(Self.order) && $0.contains { $0 > 0 } } ?? []
        return WebPushSubscription(
            id: id, publicKey: cryptography.publicKey(of: number), privateKey: number, secret: part("auth", bytes))
    }

    /// The order of P-256 (FIPS 186-4, D.1.2.3).
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6,
        0xFA,
        0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]
}
