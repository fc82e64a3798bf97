import CTLS

/// The server's side of one connection with TLS, without its socket: bytes go in and come out. Used on one thread.
public struct TLSSession: ~Copyable {
    /// How far a look for plaintext came.
    public enum Progress: Hashable, Sendable {
        /// Nothing more is there until more comes from the client.
        case waiting
        /// The client ended the session.
        case closed
        /// The session failed: the reason, for people. Bytes for the client, such as an alert, may be left to send.
        case failed(String)
    }

    /// The certificate that a client showed. Nobody vouches for it.
    public struct ClientCertificate: Hashable, Sendable {
        /// The user ids of its subject (`UID`): the topics of a certificate of Apple's (UNVERIFIED).
        public let userIDs: [String]
        /// The common name of its subject.
        public let commonName: String?
    }

    private let session: OpaquePointer
    // The session owns both.
    private let input: OpaquePointer
    private let output: OpaquePointer

    /// Begins to wait for a client's first message.
    ///
    /// - Throws: that there is no memory.
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

    /// Whether the handshake is done.
    public var isEstablished: Bool { SSL_is_init_finished(session) == 1 }

    /// The protocol that both sides agreed on by ALPN: `h2` or `http/1.1`; `nil`: the client offered none of them.
    public var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(session, &name, &length)
        guard let name, length > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    /// The version, such as `TLSv1.3`.
    public var version: String { String(cString: SSL_get_version(session)) }

    /// The certificate that the client showed; `nil`: none.
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

    /// Takes in bytes from the client's socket. They are kept until ``read(into:)``.
    public mutating func receive(_ ciphertext: UnsafeRawBufferPointer) {
        // A buffer in memory takes all, or there is no memory: then the session fails for what it lacks.
        _ = BIO_write(input, ciphertext.baseAddress, Int32(clamping: ciphertext.count))
    }

    /// Goes on with the handshake, and appends the plaintext that is there.
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

    /// As much as a record of TLS has.
    private static let pieceLength = 16 << 10

    /// Encrypts bytes for the client, once the handshake is done.
    ///
    /// - Returns: whether that was possible.
    public mutating func write(_ plaintext: [UInt8]) -> Bool {
        guard !plaintext.isEmpty else { return true }
        ERR_clear_error()
        return SSL_write(session, plaintext, Int32(clamping: plaintext.count)) == Int32(clamping: plaintext.count)
    }

    /// Tells the client that no more comes.
    public mutating func close() {
        ERR_clear_error()
        if SSL_is_init_finished(session) == 1 { SSL_shutdown(session) }
        ERR_clear_error()
    }

    /// Takes the bytes for the client's socket.
    public mutating func takeOutput() -> [UInt8] {
        let count = CTLS_pending(output)
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { bytes, taken in
            taken = max(0, Int(BIO_read(output, bytes.baseAddress, Int32(clamping: count))))
        }
    }
}
