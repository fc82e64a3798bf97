import CTLS

/// The server's side of one TLS connection, without its socket: the caller moves the bytes. Used on one thread.
public struct TLSSession: ~Copyable {
    /// The result of reading plaintext.
    public enum Progress: Hashable, Sendable {
        /// No more plaintext is available until the client sends more.
        case waiting
        /// The client ended the session.
        case closed
        /// The session failed; the text is for people. An alert or other bytes for the client may be left to send.
        case failed(String)
    }

    /// The certificate of a client. It is not verified.
    public struct ClientCertificate: Hashable, Sendable {
        /// The user ids of its subject (`UID`): the topics of an Apple certificate (UNVERIFIED).
        public let userIDs: [String]
        /// The common name of its subject.
        let commonName: String?
    }

    private let session: OpaquePointer
    // The session owns both.
    private let input: OpaquePointer
    private let output: OpaquePointer

    /// Creates a session that waits for the client's first message.
    ///
    /// - Throws: if there is no memory.
    public init(_ context: TLSContext) throws(TLSError) {
        guard let session = SSL_new(context.handle) else { throw TLSError("begin a session") }
        guard let input = CTLS_memory() else {
            SSL_free(session)
            throw TLSError("make a buffer")
        }
        guard let output = CTLS_memory() else {
            BIO_free(input)
            SSL_free(session)
            throw TLSError("make a buffer")
        }
        SSL_set_bio(session, input, output)
        SSL_set_accept_state(session)
        (self.session, self.input, self.output) = (session, input, output)
    }

    deinit { SSL_free(session) }

    /// Whether the handshake is complete.
    public var isEstablished: Bool { SSL_is_init_finished(session) == 1 }

    /// The protocol negotiated with ALPN: `h2` or `http/1.1`; `nil` if the client offered neither.
    public var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(session, &name, &length)
        guard let name, length > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    /// The version, such as `TLSv1.3`.
    public var version: String { String(cString: SSL_get_version(session)) }

    /// The client's certificate; `nil` if it sent none.
    public var clientCertificate: ClientCertificate? {
        guard let certificate = SSL_get1_peer_certificate(session) else { return nil }
        defer { X509_free(certificate) }
        guard let subject = X509_get_subject_name(certificate) else { return nil }
        return ClientCertificate(
            userIDs: Self.entries(NID_userId, of: subject), commonName: Self.entries(NID_commonName, of: subject).first)
    }

    private static func entries(_ kind: Int32, of name: OpaquePointer) -> [String] {
        var found: [String] = []
        var place = X509_NAME_get_index_by_NID(name, kind, -1)
        while place >= 0 {
            if let entry = X509_NAME_get_entry(name, place), let text = X509_NAME_ENTRY_get_data(entry) {
                var bytes: UnsafeMutablePointer<UInt8>?
                let length = ASN1_STRING_to_UTF8(&bytes, text)
                if let bytes, length >= 0 {
                    found.append(String(decoding: UnsafeBufferPointer(start: bytes, count: Int(length)), as: UTF8.self))
                }
                CRYPTO_free(bytes, nil, 0)
            }
            place = X509_NAME_get_index_by_NID(name, kind, place)
        }
        return found
    }

    /// Adds bytes from the client's socket, which wait for ``read(into:)``.
    public mutating func receive(_ ciphertext: UnsafeRawBufferPointer) {
        // BIO_write to a memory buffer fails only without memory: then the session fails for the missing bytes.
        _ = BIO_write(input, ciphertext.baseAddress, Int32(clamping: ciphertext.count))
    }

    /// Continues the handshake, and appends the available plaintext.
    public mutating func read(into plaintext: inout [UInt8]) -> Progress {
        while true {
            let result = withUnsafeTemporaryAllocation(byteCount: Self.pieceLength, alignment: 1) { piece -> Int32 in
                ERR_clear_error()
                let count = SSL_read(session, piece.baseAddress, Int32(piece.count))
                if count > 0 { plaintext.append(contentsOf: piece.prefix(Int(count))) }
                return count
            }
            guard result <= 0 else { continue }
            switch SSL_get_error(session, result) {
            case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .waiting
            case SSL_ERROR_ZERO_RETURN: return .closed
            default: return .failed(TLSError.takeReason())
            }
        }
    }

    /// The length of a TLS record.
    private static let pieceLength = 16 << 10

    /// Encrypts bytes for the client, after the handshake.
    ///
    /// - Returns: whether it succeeded.
    public mutating func write(_ plaintext: [UInt8]) -> Bool {
        guard !plaintext.isEmpty else { return true }
        ERR_clear_error()
        return SSL_write(session, plaintext, Int32(clamping: plaintext.count)) == Int32(clamping: plaintext.count)
    }

    /// Sends close_notify to the client.
    public mutating func close() {
        ERR_clear_error()
        if SSL_is_init_finished(session) == 1 { SSL_shutdown(session) }
        ERR_clear_error()
    }

    /// Removes and returns the bytes for the client's socket.
    public mutating func takeOutput() -> [UInt8] {
        let count = CTLS_pending(output)
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { bytes, taken in
            taken = max(0, Int(BIO_read(output, bytes.baseAddress, Int32(clamping: count))))
        }
    }
}

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
