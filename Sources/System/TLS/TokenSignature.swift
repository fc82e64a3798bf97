import CTLS

/// A key that checks the signatures of tokens.
public final class VerificationKey {
    /// How a token is signed (RFC 7518, 3.1).
    public enum Algorithm: String, Sendable {
        case rs256 = "RS256"
        case es256 = "ES256"
    }

    private let key: PrivateKey
    private let algorithm: Algorithm

    /// Takes the public half of a private key, as a service account's file and a `.p8` file have one.
    ///
    /// - Throws: that it is no key in PEM, or one of another kind than the algorithm wants.
    public init(_ algorithm: Algorithm, privateKey pem: [UInt8]) throws(TLSError) {
        self.algorithm = algorithm
        key = try PrivateKey.read(pem)
        let wanted = algorithm == .rs256 ? EVP_PKEY_RSA : EVP_PKEY_EC
        guard EVP_PKEY_get_base_id(key.handle) == wanted else {
            throw TLSError("use a key of another kind for \(algorithm.rawValue)")
        }
    }

    /// Whether a signature of these bytes is this key's.
    public func isSignature(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        guard let signature = algorithm == .es256 ? Self.asn1(signature) : signature else { return false }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key.handle) == 1
            && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
    }

    /// A signature of ES256 in a token is two numbers of 32 bytes (RFC 7518, 3.4); OpenSSL wants them in ASN.1.
    private static func asn1(_ signature: [UInt8]) -> [UInt8]? {
        guard signature.count == 64 else { return nil }
        func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            var digits = Array(bytes.drop { $0 == 0 })
            if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
            return [0x02, UInt8(digits.count)] + digits
        }
        let content = integer(signature[..<32]) + integer(signature[32...])
        return [0x30, UInt8(content.count)] + content
    }
}

/// Randomness of the system, for ids and tokens that nobody may guess.
public struct SecureRandom: RandomNumberGenerator, Sendable {
    /// Takes the numbers from OpenSSL, which has them from the kernel.
    public init() {}

    public mutating func next() -> UInt64 {
        var number: UInt64 = 0
        let isFilled = withUnsafeMutableBytes(of: &number) {
            RAND_bytes($0.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32($0.count)) == 1
        }
        precondition(isFilled, "the kernel gives no random bytes")
        return number
    }
}
