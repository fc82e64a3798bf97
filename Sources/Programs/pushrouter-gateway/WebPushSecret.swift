import Glibc
import LinuxSystem
import PushGateway
import Synchronization
import TLS

/// The file with the secret that makes the keys of all web push subscriptions.
enum WebPushSecret {
    /// Reads the secret in a state directory, and makes it at the first start.
    ///
    /// - Throws: if it cannot be read, has another length, or others may read it. A new one in its place would end every
    ///   subscription.
    static func read(in directory: String) throws(StartFailure) -> [UInt8] {
        let path = "\(directory)/webpush.key"
        guard let secret = try SmallFile.read(path) else {
            let random = SecureRandom()
            let secret = (0..<WebPushKeys.secretLength).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            try SmallFile.replace(path, with: secret, mode: 0o600)
            return secret
        }
        guard secret.count == WebPushKeys.secretLength else {
            throw StartFailure(
                "\(path) has \(secret.count) bytes, and the secret of web push has \(WebPushKeys.secretLength): restore it "
                    + "from a backup, or remove it, which ends all subscriptions",
                exitStatus: StartFailure.configuration)
        }
        var facts = stat()
        guard stat(path, &facts) == 0, facts.st_mode & 0o077 == 0 else {
            throw StartFailure(
                "\(path) may be read by others, who could read web pushes: run chmod 600 on it",
                exitStatus: StartFailure.configuration)
        }
        return secret
    }
}

/// The cryptography of web push with OpenSSL.
final class OpenSSLWebPush: WebPushCryptography {
    /// The keys of senders, by their points; beyond the limit all are made again.
    private let senders = Mutex<[[UInt8]: VerificationKey]>([:])
    private static let sendersMax = 1000

    func code(of message: [UInt8], key: [UInt8]) -> [UInt8] { MessageCode.of(message, key: key) }

    func publicKey(of number: [UInt8]) -> [UInt8] {
        guard let key = P256.publicKey(of: number) else { preconditionFailure("a private key is below the order") }
        return key
    }

    func sharedSecret(_ number: [UInt8], _ point: [UInt8]) -> [UInt8]? { P256.sharedSecret(number, point) }

    func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) -> (text: [UInt8], isAuthentic: Bool)? {
        SealedText.open(sealed, key: key, nonce: nonce)
    }

    func isSignature(_ signature: [UInt8], of bytes: [UInt8], by point: [UInt8]) -> Bool {
        senders.withLock { senders in
            if let key = senders[point] { return key.isSignature(signature, of: bytes) }
            guard let key = try? VerificationKey(point: point), key.isSignature(signature, of: bytes) else {
                return false
            }
            if senders.count >= Self.sendersMax { senders.removeAll() }
            senders[point] = key
            return true
        }
    }
}
