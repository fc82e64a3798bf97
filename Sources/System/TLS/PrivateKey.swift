import CTLS

/// A private or public key. OpenSSL wipes its bytes at its release.
struct PrivateKey: ~Copyable {
    let handle: OpaquePointer

    /// Takes over a key.
    init(owning handle: OpaquePointer) { self.handle = handle }

    /// Makes a new key on the curve P-256.
    init() throws(TLSError) {
        guard let key = CTLS_new_key() else { throw TLSError("make a key") }
        handle = key
    }

    deinit { EVP_PKEY_free(handle) }

    /// Returns the key in PEM, without a passphrase.
    func pem() throws(TLSError) -> [UInt8] {
        try PEM.written("write a key") { PEM_write_bio_PrivateKey($0, handle, nil, nil, 0, nil, nil) }
    }

    /// Reads a key in PEM.
    static func read(_ pem: [UInt8]) throws(TLSError) -> PrivateKey {
        let key = try PEM.read(pem, "read a private key") { PEM_read_bio_PrivateKey($0, nil, nil, nil) }
        return PrivateKey(owning: key)
    }
}

/// Reads and writes PEM with OpenSSL's memory buffers.
enum PEM {
    static func written(_ operation: String, _ write: (OpaquePointer) -> Int32) throws(TLSError) -> [UInt8] {
        guard let memory = CTLS_memory() else { throw TLSError(operation) }
        defer { BIO_free(memory) }
        guard write(memory) == 1 else { throw TLSError(operation) }
        let count = CTLS_pending(memory)
        return [UInt8](unsafeUninitializedCapacity: count) { bytes, taken in
            taken = max(0, Int(BIO_read(memory, bytes.baseAddress, Int32(clamping: count))))
        }
    }

    static func read(
        _ bytes: [UInt8], _ operation: String, _ read: (OpaquePointer) -> OpaquePointer?
    ) throws(TLSError) -> OpaquePointer {
        let result = bytes.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let memory = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { BIO_free(memory) }
            return read(memory)
        }
        guard let result else { throw TLSError(operation) }
        return result
    }
}
