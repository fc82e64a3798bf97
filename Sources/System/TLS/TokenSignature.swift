import CTLS

/// A key that verifies the signatures of tokens. Used on one thread at a time.
public final class VerificationKey {
    /// The signature algorithm of a token (RFC 7518, 3.1).
    public enum Algorithm: String, Sendable {
        case rs256 = "RS256"
        case es256 = "ES256"
    }

    private let key: PrivateKey
    private let algorithm: Algorithm
    /// The last token with a right signature: a sender uses its token for up to a day, and a check takes 0.1 ms.
    private var last: (bytes: [UInt8], signature: [UInt8])?

    /// Takes the public half of a private key, from a service account's file or a `.p8` file.
    ///
    /// - Throws: if it is no key in PEM, or if its type does not fit the algorithm.
    public init(_ algorithm: Algorithm, privateKey pem: [UInt8]) throws(TLSError) {
        self.algorithm = algorithm
        key = try PrivateKey.read(pem)
        let wanted = algorithm == .rs256 ? EVP_PKEY_RSA : EVP_PKEY_EC
        guard EVP_PKEY_get_base_id(key.handle) == wanted else {
            throw TLSError("use a key of another kind for \(algorithm.rawValue)")
        }
    }

    /// Takes a public key on P-256, an uncompressed point.
    ///
    /// - Throws: if it is no point on the curve.
    public init(point: [UInt8]) throws(TLSError) {
        algorithm = .es256
        let handle = point.count == 65 ? Self.publicKey(point) : nil
        ERR_clear_error()
        guard let handle else { throw TLSError("read a point of P-256") }
        key = PrivateKey(owning: handle)
    }

    /// Makes a key of its parts. OpenSSL's decoder of the same key in DER takes a third of a web push's time.
    private static func publicKey(_ point: [UInt8]) -> OpaquePointer? {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_fromdata_init(context) == 1 else { return nil }
        let selection = OSSL_KEYMGMT_SELECT_PUBLIC_KEY | OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS
        var key: OpaquePointer?
        var (point, curve) = (point, Array("prime256v1".utf8CString))
        func make(_ group: UnsafePointer<CChar>, _ pub: UnsafePointer<CChar>) -> Bool {
            point.withUnsafeMutableBytes { point in
                curve.withUnsafeMutableBufferPointer { curve in
                    var parts = [
                        OSSL_PARAM_construct_utf8_string(group, curve.baseAddress, 0),
                        OSSL_PARAM_construct_octet_string(pub, point.baseAddress, point.count),
                        OSSL_PARAM_construct_end(),
                    ]
                    return EVP_PKEY_fromdata(context, &key, selection, &parts) == 1
                }
            }
        }
        // The names live until the call returns.
        return make("group", "pub") ? key : nil
    }

    /// Returns whether a signature of these bytes was made with this key.
    public func isSignature(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        if let last, last == (bytes, signature) { return true }
        let isRight = verify(signature, of: bytes)
        if isRight { last = (bytes, signature) }
        return isRight
    }

    private func verify(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        guard let signature = algorithm == .es256 ? Self.asn1(signature) : signature else { return false }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key.handle) == 1
            && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
    }

    /// Converts an ES256 signature of a token, two numbers of 32 bytes (RFC 7518, 3.4), to ASN.1 for OpenSSL.
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

/// A cryptographic random generator, for ids and tokens that must not be guessable.
///
/// A class: a copy would give the same numbers again. Used on one thread.
public final class SecureRandom: RandomNumberGenerator {
    /// The numbers that wait, and how many: OpenSSL's generator takes about as long for one as for many.
    private var numbers = [UInt64](repeating: 0, count: 32)
    private var left = 0

    /// Uses OpenSSL's generator, which the kernel seeds.
    public init() {}

    public func next() -> UInt64 {
        if left == 0 { fill() }
        left -= 1
        // A number that was given out is not kept.
        return exchange(&numbers[left], with: 0)
    }

    private func fill() {
        let isFilled = numbers.withUnsafeMutableBytes {
            RAND_bytes($0.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32($0.count)) == 1
        }
        precondition(isFilled, "the kernel gives no random bytes")
        left = numbers.count
    }
}
