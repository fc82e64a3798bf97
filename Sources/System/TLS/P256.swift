import CTLS

/// The cryptography of web push: the curve P-256, HMAC-SHA256 and AES-128-GCM, with keys and points as raw bytes.
public enum P256 {
    /// Returns the public key of a private one, an uncompressed point; `nil`: the number is not below the order.
    public static func publicKey(of number: [UInt8]) -> [UInt8]? { product(number, nil) }

    /// Returns the secret that two keys share (ECDH), the x coordinate of their product.
    ///
    /// - Returns: `nil` if the other key is no point on the curve.
    public static func sharedSecret(_ number: [UInt8], _ point: [UInt8]) -> [UInt8]? {
        product(number, point).map { Array($0[1...32]) }
    }

    /// The product of a number and a point; `nil` for the point means the curve's generator.
    private static func product(_ number: [UInt8], _ point: [UInt8]?) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard let group = CTLS_p256() else { return nil }
        guard let result = EC_POINT_new(group) else { return nil }
        defer { EC_POINT_clear_free(result) }
        guard let scalar = BN_bin2bn(number, Int32(number.count), nil) else { return nil }
        defer { BN_clear_free(scalar) }
        BN_set_flags(scalar, BN_FLG_CONSTTIME)
        guard BN_is_zero(scalar) == 0, let order = EC_GROUP_get0_order(group), BN_cmp(scalar, order) < 0 else {
            return nil
        }
        if let point {
            guard let other = EC_POINT_new(group) else { return nil }
            defer { EC_POINT_free(other) }
            // OpenSSL refuses a point that is not on the curve.
            guard EC_POINT_oct2point(group, other, point, point.count, nil) == 1,
                EC_POINT_mul(group, result, nil, other, scalar, nil) == 1
            else { return nil }
        } else {
            guard EC_POINT_mul(group, result, scalar, nil, nil, nil) == 1 else { return nil }
        }
        var bytes = [UInt8](repeating: 0, count: 65)
        let length = EC_POINT_point2oct(group, result, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, nil)
        return length == bytes.count ? bytes : nil
    }
}

/// HMAC-SHA256 (RFC 2104).
public enum MessageCode {
    /// Returns the code of a message, 32 bytes.
    public static func of(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        let made = HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &code, &length)
        guard made != nil else { preconditionFailure("libcrypto has no memory for a code") }
        return Array(code.prefix(Int(length)))
    }
}

/// AES-128-GCM with a tag of 16 bytes behind the ciphertext.
public enum SealedText {
    /// Decrypts a ciphertext with its tag.
    ///
    /// - Returns: the plaintext, and whether the tag fits it; `nil` for fewer bytes than a tag. Without a fitting tag
    ///   nobody vouches for the plaintext: it may only serve to explain the failure.
    public static func open(
        _ sealed: [UInt8], key: [UInt8], nonce: [UInt8]
    ) -> (text: [UInt8], isAuthentic: Bool)? {
        let count = sealed.count - 16
        guard count >= 0, key.count == 16, nonce.count == 12, let context = EVP_CIPHER_CTX_new() else { return nil }
        defer {
            EVP_CIPHER_CTX_free(context)
            ERR_clear_error()
        }
        var text = [UInt8](repeating: 0, count: count + 16)
        var tag = Array(sealed.suffix(16))
        var (length, last): (Int32, Int32) = (0, 0)
        guard EVP_DecryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce) == 1,
            EVP_DecryptUpdate(context, &text, &length, sealed, Int32(count)) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, &tag) == 1
        else { return nil }
        var rest = [UInt8](repeating: 0, count: 16)
        let isAuthentic = EVP_DecryptFinal_ex(context, &rest, &last) == 1
        return (Array(text.prefix(count)), isAuthentic)
    }
}
