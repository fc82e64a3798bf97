import LinuxSystem
import PushGateway
import PushModel
import TLS

/// The keys of service accounts, and Apple's keys, that verify tokens. Read at the start.
final class SenderKeys {
    private var accounts: [String: [VerificationKey]] = [:]
    private var providers: [String: VerificationKey] = [:]

    /// - Parameters:
    ///   - credentials: the directory of service account files; `nil`: none.
    ///   - keys: the directory of Apple's keys; `nil`: none.
    /// - Throws: the error of a file, with its name.
    init(credentials: String?, keys: String?) throws(StartFailure) {
        if let credentials {
            for name in try SmallFile.names(in: credentials, suffix: ".json") {
                let (account, key) = try Self.account("\(credentials)/\(name)")
                accounts[account, default: []].append(key)
            }
        }
        if let keys {
            for name in try SmallFile.names(in: keys, suffix: ".p8") {
                // Apple's name for the file: AuthKey_KEYID.p8.
                let stem = name.dropLast(".p8".count)
                let id = stem.hasPrefix("AuthKey_") ? stem.dropFirst("AuthKey_".count) : stem
                let path = "\(keys)/\(name)"
                providers[String(id)] = try Self.key(path, try SmallFile.read(path) ?? [], .es256)
            }
        }
    }

    /// How many keys of each kind there are.
    var counts: [String: Int] {
        ["accounts": accounts.values.reduce(0) { $0 + $1.count }, "keys": providers.count]
    }

    /// Verifies a signature.
    func verdict(on token: WebToken, of signer: TokenSigner) -> SignatureVerdict {
        let keys: [VerificationKey] =
            switch signer {
            case .account(let name): accounts[name] ?? []
            case .providerKey(let id, _): providers[id].map { [$0] } ?? []
            }
        guard !keys.isEmpty else { return .unknownSigner }
        return keys.contains { $0.isSignature(token.signature, of: token.signedBytes) } ? .good : .bad
    }

    private static func account(_ path: String) throws(StartFailure) -> (String, VerificationKey) {
        let bytes = try SmallFile.read(path) ?? []
        guard let root = try? JSONDocument(scanning: bytes).root, let account = root["client_email"]?.string,
            let pem = root["private_key"]?.string
        else {
            throw StartFailure(
                "\(path) is no service account file: it needs client_email and private_key",
                exitStatus: StartFailure.configuration)
        }
        return (account, try key("\(path): private_key", Array(pem.utf8), .rs256))
    }

    private static func key(
        _ place: String, _ pem: [UInt8], _ algorithm: VerificationKey.Algorithm
    ) throws(StartFailure) -> VerificationKey {
        do throws(TLSError) {
            return try VerificationKey(algorithm, privateKey: pem)
        } catch {
            throw StartFailure("\(place): \(error)", exitStatus: StartFailure.configuration)
        }
    }
}
