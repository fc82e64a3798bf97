import CTLS

/// A certificate authority of this machine that can certify a few names only: its certificate has name constraints (RFC
/// 5280, 4.2.1.10), so a stolen key cannot sign for other names.
///
/// Clients trust a root certificate whose key no longer exists: it was discarded after it signed the authority. This is
/// needed because Java ignores the constraints of a root, and applies those of the authority below it.
public struct CertificateAuthority: ~Copyable {
    /// A certificate for a server, and its key, in PEM.
    public struct Leaf: Sendable {
        /// The certificate, followed by the authority's.
        public let chain: [UInt8]
        /// The key.
        public let key: [UInt8]
        /// Its end, in seconds since 1970.
        public let ends: Int64
    }

    private let key: PrivateKey
    private let certificate: OpaquePointer
    /// The authority's own certificate in PEM, which servers send after theirs.
    private let issuer: [UInt8]
    /// The root's certificate in PEM, for clients to trust.
    public let pem: [UInt8]
    /// Its end, in seconds since 1970.
    public let ends: Int64

    /// Reads an authority from the output of `stored()`.
    ///
    /// - Throws: if OpenSSL cannot read it, or if the key does not match.
    public init(stored bytes: [UInt8]) throws(TLSError) {
        let key = try PrivateKey.read(bytes)
        let root = try PEM.read(bytes, "read the root's certificate") { memory in
            guard let own = PEM_read_bio_X509(memory, nil, nil, nil) else { return nil }
            X509_free(own)
            return PEM_read_bio_X509(memory, nil, nil, nil)
        }
        defer { X509_free(root) }
        let certificate = try PEM.read(bytes, "read the authority's certificate") {
            PEM_read_bio_X509($0, nil, nil, nil)
        }
        let texts = try Self.texts(certificate, root, of: key)
        self.init(certificate: certificate, key: key, texts: texts)
    }

    /// Takes over the certificate.
    private init(certificate: OpaquePointer, key: consuming PrivateKey, texts: (issuer: [UInt8], root: [UInt8])) {
        (issuer, pem) = texts
        self.certificate = certificate
        self.key = key
        ends = Self.end(of: certificate)
    }

    /// Returns the authority's certificate and the root's in PEM. A failure frees the former.
    private static func texts(
        _ certificate: OpaquePointer, _ root: OpaquePointer, of key: borrowing PrivateKey
    ) throws(TLSError) -> (issuer: [UInt8], root: [UInt8]) {
        do throws(TLSError) {
            guard X509_check_private_key(certificate, key.handle) == 1 else {
                throw TLSError("use the authority's key with its certificate")
            }
            let issuer = try PEM.written("write a certificate") { PEM_write_bio_X509($0, certificate) }
            return (issuer, try PEM.written("write a certificate") { PEM_write_bio_X509($0, root) })
        } catch {
            X509_free(certificate)
            throw error
        }
    }

    deinit { X509_free(certificate) }

    /// Returns the key, the authority's certificate and the root's, in PEM. The result is secret.
    public func stored() throws(TLSError) -> [UInt8] { try key.pem() + issuer + pem }

    /// Makes a new authority.
    ///
    /// - Parameters:
    ///   - name: its common name, at most 64 bytes.
    ///   - domains: the names and IPv4 addresses that it may certify, with the names below them; loopback is added.
    ///   - now: the time, in seconds since 1970.
    ///   - days: its validity.
    public static func make(
        name: String, domains: [String], now: Int64, days: Int64
    ) throws(TLSError) -> CertificateAuthority {
        let permitted =
            domains.map {
                $0.utf8.allSatisfy(isOfAddress) ? "permitted;IP:\($0)/255.255.255.255" : "permitted;DNS:\($0)"
            }
            + ["permitted;IP:127.0.0.0/255.0.0.0", "permitted;IP:::1/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"]
        let common: [(Int32, String)] = [
            (NID_key_usage, "critical,keyCertSign,cRLSign"), (NID_subject_key_identifier, "hash"),
            (NID_name_constraints, "critical," + permitted.joined(separator: ",")),
        ]
        // The root's key is discarded when this function returns.
        let rootKey = try PrivateKey()
        let root = try blank(name: "\(name), root", key: rootKey, now: now, days: days)
        defer { X509_free(root) }
        try sign(root, [(NID_basic_constraints, "critical,CA:TRUE,pathlen:1")] + common, issuer: root, key: rootKey)
        let key = try PrivateKey()
        let certificate = try blank(name: name, key: key, now: now, days: days)
        do throws(TLSError) {
            let own: [(Int32, String)] = [
                (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"), (NID_authority_key_identifier, "keyid"),
            ]
            try sign(certificate, own + common, issuer: root, key: rootKey)
        } catch {
            X509_free(certificate)
            throw error
        }
        let texts = try texts(certificate, root, of: key)
        return CertificateAuthority(certificate: certificate, key: key, texts: texts)
    }

    private static func sign(
        _ certificate: OpaquePointer, _ extensions: [(Int32, String)], issuer: OpaquePointer,
        key: borrowing PrivateKey
    ) throws(TLSError) {
        guard X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1 else {
            throw TLSError("name the issuer")
        }
        try add(extensions, to: certificate, issuer: issuer)
        guard X509_sign(certificate, key.handle, EVP_sha256()) > 0 else { throw TLSError("sign a certificate") }
    }

    /// Makes a certificate for a server. It does not check the name constraints: clients do.
    ///
    /// - Parameters:
    ///   - names: its host names and IP addresses.
    ///   - now: the time, in seconds since 1970.
    ///   - days: its validity, limited to the authority's.
    public func leaf(names: [String], now: Int64, days: Int64) throws(TLSError) -> Leaf {
        let key = try PrivateKey()
        let left = max(1, (ends - now) / 86400)
        let certificate = try Self.blank(name: Self.leafName, key: key, now: now, days: min(days, left))
        defer { X509_free(certificate) }
        let all = names.map { ($0.utf8.allSatisfy(Self.isOfAddress) ? "IP:" : "DNS:") + $0 }.joined(separator: ",")
        try Self.sign(
            certificate,
            [
                (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, "serverAuth"), (NID_subject_alt_name, all),
                (NID_authority_key_identifier, "keyid"),
            ], issuer: self.certificate, key: self.key)
        let pem = try PEM.written("write a certificate") { PEM_write_bio_X509($0, certificate) }
        return Leaf(chain: pem + issuer, key: try key.pem(), ends: Self.end(of: certificate))
    }

    /// The common name of each server's certificate, which is never an authority's name. Clients check the other names.
    private static let leafName = "pushrouter-gateway, server"

    private static func isOfAddress(_ byte: UInt8) -> Bool {
        (0x30...0x3A).contains(byte) || byte == UInt8(ascii: ".")
    }

    /// Makes a certificate without issuer, extensions and signature.
    private static func blank(
        name: String, key: borrowing PrivateKey, now: Int64, days: Int64
    ) throws(TLSError) -> OpaquePointer {
        guard let certificate = X509_new() else { throw TLSError("make a certificate") }
        // Begins an hour ago, because clients' clocks differ.
        let start = time_t(now - 3600)
        let end = time_t(now + days * 86400)
        var serial: UInt64 = 0
        let isFilled =
            withUnsafeMutableBytes(of: &serial) {
                RAND_bytes($0.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32($0.count))
            } == 1
        let subject = X509_get_subject_name(certificate)
        let isNamed =
            Array(name.utf8.prefix(64)).withUnsafeBufferPointer {
                X509_NAME_add_entry_by_NID(
                    subject, NID_commonName, MBSTRING_FLAG | 0, $0.baseAddress, Int32($0.count), -1, 0)
            } == 1
        guard isFilled, isNamed, X509_set_version(certificate, 2) == 1,
            ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1 | 1) == 1,
            ASN1_TIME_adj(X509_getm_notBefore(certificate), start, 0, 0) != nil,
            ASN1_TIME_adj(X509_getm_notAfter(certificate), end, 0, 0) != nil,
            X509_set_pubkey(certificate, key.handle) == 1
        else {
            X509_free(certificate)
            throw TLSError("make a certificate")
        }
        return certificate
    }

    private static func add(
        _ extensions: [(kind: Int32, value: String)], to certificate: OpaquePointer, issuer: OpaquePointer
    ) throws(TLSError) {
        for (kind, value) in extensions {
            guard CTLS_add_extension(certificate, issuer, kind, value) == 1 else {
                throw TLSError("add an extension to a certificate")
            }
        }
    }

    private static func end(of certificate: OpaquePointer) -> Int64 {
        var parts = tm()
        guard ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) == 1 else { return 0 }
        return Int64(timegm(&parts))
    }
}

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
