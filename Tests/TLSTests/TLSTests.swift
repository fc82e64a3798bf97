import Glibc
import TestSupport
import Testing

@testable import TLS

@Suite("The authority of a gateway")
struct CertificateAuthorityTests {
    private static let now = Int64(time(nil))

    private static func authority(_ domains: [String] = ["googleapis.com", "localhost"]) throws -> CertificateAuthority
    {
        try CertificateAuthority.make(name: "pushrouter-gateway", domains: domains, now: now, days: 10)
    }

    /// Whether the openssl program verifies a server's certificate with this authority only.
    private static func verifies(_ leaf: CertificateAuthority.Leaf, by authority: [UInt8], host: String) throws -> Bool
    {
        let directory = TemporaryDirectory()
        writeFile(String(decoding: authority, as: UTF8.self), to: "\(directory.path)/ca.pem")
        writeFile(String(decoding: leaf.chain, as: UTF8.self), to: "\(directory.path)/leaf.pem")
        let kind = host.utf8.allSatisfy { (0x30...0x3A).contains($0) || $0 == 0x2E } ? "-verify_ip" : "-verify_hostname"
        let result = Program(path: "/usr/bin/openssl").run([
            "verify", "-no-CAfile", "-no-CApath", "-no-CAstore", "-purpose", "sslserver", kind, host, "-trusted",
            "\(directory.path)/ca.pem", "-untrusted", "\(directory.path)/leaf.pem", "\(directory.path)/leaf.pem",
        ])
        return result.end == .exited(0)
    }

    @Test("signs the allowed names, and no others")
    func constraints() throws {
        let authority = try Self.authority(["googleapis.com", "localhost", "192.0.2.7"])
        for (host, isGood) in [
            ("fcm.googleapis.com", true), ("localhost", true), ("127.0.0.1", true), ("::1", true),
            ("bank.example", false),
            ("googleapis.com.example", false), ("192.0.2.1", false), ("192.0.2.7", true),
        ] {
            let leaf = try authority.leaf(names: [host], now: Self.now, days: 5)
            #expect(try Self.verifies(leaf, by: authority.pem, host: host) == isGood, "\(host)")
        }
    }

    @Test("is unchanged after a write and a read")
    func roundTrip() throws {
        let authority = try Self.authority()
        let read = try CertificateAuthority(stored: try authority.stored())
        // The PEM for clients holds no private key.
        let (pem, trusted) = (read.pem, authority.pem)
        #expect(pem == trusted && String(decoding: pem, as: UTF8.self).split(separator: "PRIVATE").count == 1)
        let (ends, written) = (read.ends, authority.ends)
        #expect(ends == written)
        #expect(abs(ends - Self.now - 10 * 86400) < 10)
        let leaf = try read.leaf(names: ["fcm.googleapis.com"], now: Self.now, days: 30)
        #expect(try Self.verifies(leaf, by: authority.pem, host: "fcm.googleapis.com"))
        // A leaf certificate ends no later than its authority.
        #expect(leaf.ends <= ends)
    }

    @Test("refuses a key of another authority, and malformed bytes")
    func faults() throws {
        let one = try Self.authority()
        let other = try Self.authority()
        let own = one.pem
        let stored = try other.stored()
        let key = Array(stored.prefix(241))
        #expect(throws: TLSError.self) {
            try CertificateAuthority(stored: key + Array(try one.stored().dropFirst(241))).ends
        }
        #expect(throws: TLSError.self) { try CertificateAuthority(stored: key).ends }
        #expect(throws: TLSError.self) { try CertificateAuthority(stored: Array(stored.dropLast(300))).ends }
        #expect(throws: TLSError.self) { try CertificateAuthority(stored: [1, 2]).ends }
        #expect(throws: TLSError.self) { try TLSContext(chain: own, key: key) }
        #expect(throws: TLSError.self) { try TLSContext(chain: [], key: key) }
    }

    @Test("survives a client's bytes that are no TLS, and reports the reason")
    func noise() throws {
        let authority = try Self.authority()
        let leaf = try authority.leaf(names: ["localhost"], now: Self.now, days: 5)
        let context = try TLSContext(chain: leaf.chain, key: leaf.key)
        for seed in 0..<200 as Range<UInt8> {
            var session = try TLSSession(context)
            let bytes = [0x16, 3, 1, 0, 20, 1, 0, 0, 16] + (0..<20).map { UInt8($0) &* seed &+ seed }
            bytes.withUnsafeBytes { session.receive($0) }
            var plain: [UInt8] = []
            let progress = session.read(into: &plain)
            #expect(plain.isEmpty)
            let isEstablished = session.isEstablished
            #expect(!isEstablished)
            if case .failed(let reason) = progress { #expect(!reason.isEmpty) }
        }
    }
}

@Suite("Signatures of tokens")
struct TokenSignatureTests {
    /// A key made by the openssl program, and its signature.
    private static func signed(_ algorithm: VerificationKey.Algorithm, _ text: String) throws -> (
        key: [UInt8], signature: [UInt8]
    ) {
        let directory = TemporaryDirectory()
        let openssl = Program(path: "/usr/bin/openssl")
        let path = directory.path
        let make =
            algorithm == .rs256
            ? ["genrsa", "-out", "\(path)/key", "2048"]
            : ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "\(path)/key"]
        try #require(openssl.run(make).end == .exited(0))
        writeFile(text, to: "\(directory.path)/text")
        try #require(
            openssl.run(["dgst", "-sha256", "-sign", "\(path)/key", "-out", "\(path)/signature", "\(path)/text"]).end
                == .exited(0))
        var signature = try #require(readFile("\(path)/signature"))
        if algorithm == .es256 { signature = try #require(plain(signature)) }
        return (try #require(readFile("\(path)/key")), signature)
    }

    /// The two numbers of an ASN.1 signature, in 32 bytes each.
    private static func plain(_ signature: [UInt8]) -> [UInt8]? {
        var numbers: [[UInt8]] = []
        var place = 2
        while place + 1 < signature.count {
            let length = Int(signature[place + 1])
            let digits = Array(signature[(place + 2)..<(place + 2 + length)].drop { $0 == 0 })
            numbers.append([UInt8](repeating: 0, count: 32 - digits.count) + digits)
            place += 2 + length
        }
        return numbers.count == 2 ? numbers[0] + numbers[1] : nil
    }

    @Test("take a point of the curve as a key, and no other bytes")
    func point() throws {
        let point = try #require(P256.publicKey(of: [1]))
        _ = try VerificationKey(point: point)
        let beside: [UInt8] = point.dropLast() + [point[64] ^ 1]
        let others: [[UInt8]] = [point.dropLast(), point + [0], beside, [UInt8](repeating: 0, count: 65), []]
        for wrong in others {
            #expect(throws: TLSError.self) { _ = try VerificationKey(point: wrong) }
        }
    }

    @Test("verify only with the key that made them", arguments: [VerificationKey.Algorithm.rs256, .es256])
    func signatures(_ algorithm: VerificationKey.Algorithm) throws {
        let (key, signature) = try Self.signed(algorithm, "header.claims")
        let other = try VerificationKey(algorithm, privateKey: try Self.signed(algorithm, "x").key)
        let own = try VerificationKey(algorithm, privateKey: key)
        #expect(own.isSignature(signature, of: Array("header.claims".utf8)))
        #expect(own.isSignature(signature, of: Array("header.claims".utf8)))
        #expect(!own.isSignature(signature, of: Array("header.claimz".utf8)))
        #expect(!own.isSignature(signature.dropLast() + [signature[63] ^ 1], of: Array("header.claims".utf8)))
        #expect(!other.isSignature(signature, of: Array("header.claims".utf8)))
        #expect(!own.isSignature([], of: []))
        #expect(!own.isSignature([UInt8](repeating: 0, count: 64), of: []))
        let wrong: VerificationKey.Algorithm = algorithm == .rs256 ? .es256 : .rs256
        #expect(throws: TLSError.self) { try VerificationKey(wrong, privateKey: key) }
    }
}
