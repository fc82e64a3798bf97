import CTLS

/// The certificate and the settings of a server's TLS connections. Used on one thread.
///
/// A session keeps its context: after a renewal, new connections get a new context.
public final class TLSContext {
    let handle: OpaquePointer

    /// - Parameters:
    ///   - chain: the server's certificate in PEM, followed by the intermediate certificates.
    ///   - key: its private key in PEM.
    /// - Throws: OpenSSL's error.
    public init(chain: [UInt8], key: [UInt8]) throws(TLSError) {
        guard let created = SSL_CTX_new(TLS_server_method()) else { throw TLSError("make a context") }
        handle = created
        guard CTLS_configure_server(created) == 1 else { throw TLSError("set up a context") }
        try Self.use(chain, in: created)
        let privateKey = try Self.withMemory(of: key) { PEM_read_bio_PrivateKey($0, nil, nil, nil) }
        guard let privateKey else { throw TLSError("read the private key") }
        defer { EVP_PKEY_free(privateKey) }
        guard SSL_CTX_use_PrivateKey(created, privateKey) == 1 else { throw TLSError("use the private key") }
        guard SSL_CTX_check_private_key(created) == 1 else {
            throw TLSError("use the private key with this certificate")
        }
    }

    deinit { SSL_CTX_free(handle) }

    private static func use(_ chain: [UInt8], in context: OpaquePointer) throws(TLSError) {
        var count = 0
        let failure = try withMemory(of: chain) { memory -> TLSError? in
            while let certificate = PEM_read_bio_X509(memory, nil, nil, nil) {
                defer { X509_free(certificate) }
                if count == 0 {
                    guard SSL_CTX_use_certificate(context, certificate) == 1 else {
                        return TLSError("use the certificate")
                    }
                } else {
                    CTLS_add_chain_certificate(context, certificate)
                }
                count += 1
            }
            return count == 0 ? TLSError("read the certificate") : nil
        }
        // At the end of the file the PEM reader reports an error.
        ERR_clear_error()
        if let failure { throw failure }
    }

    private static func withMemory<Result>(
        of bytes: [UInt8], _ body: (OpaquePointer) -> Result
    ) throws(TLSError) -> Result {
        let memory = bytes.withUnsafeBytes { BIO_new_mem_buf($0.baseAddress, Int32(clamping: $0.count)) }
        guard let memory else { throw TLSError("make a buffer") }
        defer { BIO_free(memory) }
        return bytes.withUnsafeBytes { _ in body(memory) }
    }
}

/// An error of an OpenSSL call.
public struct TLSError: Error, Hashable, CustomStringConvertible {
    /// One sentence without a full stop.
    public let description: String

    /// - Parameter operation: the end of a sentence that begins with "cannot". The reason is the oldest error in
    ///   OpenSSL's queue of this thread, which is then cleared.
    init(_ operation: String) {
        description = "cannot \(operation): \(Self.takeReason())"
    }

    static func takeReason() -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0, let reason = ERR_reason_error_string(code) else { return "OpenSSL names no reason" }
        return String(cString: reason)
    }
}
