import CTLS

/// A certificate authority of this machine's own that may vouch for a few names alone: its certificate has name constraints
/// (RFC 5280, 4.2.1.10), so a stolen key signs nothing else.
///
/// Clients trust a root whose key nobody has: it signed the authority once and is gone. Java does not look at the constraints of
/// a root, and does at those of the authority below it.
public struct CertificateAuthority: ~Copyable {
    /// A certificate for a server, and its key, in PEM.
    public struct Leaf: Sendable {
        /// The certificate, and behind it the authority's.
        public let chain: [UInt8]
        /// The key.
        public let key: [UInt8]
        /// When it ends, in seconds since 1970.
        public let ends: Int64
    }

    private let key: PrivateKey
    private let certificate: OpaquePointer
    /// The authority's own certificate in PEM, which servers show behind theirs.
    private let issuer: [UInt8]
    /// The root's certificate in PEM, which clients are to trust.
    public let pem: [UInt8]
    /// When it ends, in seconds since 1970.
    public let ends: Int64

    /// Reads an authority that `stored()` gave.
    ///
    /// - Throws: what OpenSSL cannot read, and that the key is another one's.
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

    /// The authority's certificate and the root's in PEM. On a failure the former is freed.
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

    /// The key, the authority's certificate and the root's, in PEM. A secret.
    public func stored() throws(TLSError) -> [UInt8] { try key.pem() + issuer + pem }

    /// Makes a new authority.
    ///
    /// - Parameters:
    ///   - name: its common name, at most 64 bytes.
    ///   - domains: it may vouch for these names and those below them, for these addresses of IPv4, and for loopback.
    ///   - now: the time, in seconds since 1970.
    ///   - days: how long it lasts.
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
        // It is gone when this returns.
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

    /// Makes a certificate for a server. Its constraints are not checked here: clients do.
    ///
    /// - Parameters:
    ///   - names: its host names, and addresses of IP.
    ///   - now: the time, in seconds since 1970.
    ///   - days: how long it lasts; never longer than the authority.
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

    /// The common name of each server's certificate, never that of an authority. Clients look at its other names.
    private static let leafName = "pushrouter-gateway, server"

    private static func isOfAddress(_ byte: UInt8) -> Bool {
        (0x30...0x3A).contains(byte) || byte == UInt8(ascii: ".")
    }

    /// A certificate without issuer, extensions and signature.
    private static func blank(
        name: String, key: borrowing PrivateKey, now: Int64, days: Int64
    ) throws(TLSError) -> OpaquePointer {
        guard let certificate = X509_new() else { throw TLSError("make a certificate") }
        // An hour back: the clocks of clients differ.
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
