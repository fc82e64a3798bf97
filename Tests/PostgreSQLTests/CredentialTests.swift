import Glibc
import TestSupport
import Testing

@testable import PostgreSQL
@testable import PushModel

/// A certificate authority and its certificates, made by openssl as an administrator makes them.
private struct Authority: ~Copyable {
    let directory = TemporaryDirectory()
    private let openssl = Program(path: "/usr/bin/openssl")

    /// The root certificate of this authority.
    var root: String { directory.path + "/ca.pem" }

    init() {
        chmod(directory.path, 0o755)
        run("req", "-x509", "-subj", "/CN=authority", "-keyout", directory.path + "/ca.key", "-out", root)
    }

    private func run(_ words: String...) {
        let result = openssl.run(
            words + (words[0] == "req" ? ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"] : []))
        precondition(result.end == .exited(0), "openssl: \(result.errors)")
    }

    /// Issues a key and its certificate, which replace the earlier ones.
    ///
    /// - Parameter owner: the user who owns the key file; `nil`: this one.
    func issue(_ name: String, subject: String, alternative: String? = nil, owner: String? = nil) {
        let path = "\(directory.path)/\(name)"
        run("req", "-subj", "/CN=\(subject)", "-keyout", path + ".key", "-out", path + ".csr")
        writeFile(alternative.map { "subjectAltName=\($0)\n" } ?? "", to: path + ".ext")
        run(
            "x509", "-req", "-in", path + ".csr", "-CA", root, "-CAkey", directory.path + "/ca.key", "-CAcreateserial",
            "-out", path + ".pem", "-extfile", path + ".ext")
        chmod(path + ".key", 0o600)
        guard let owner, geteuid() == 0, let user = getpwnam(owner) else { return }
        precondition(chown(path + ".key", user.pointee.pw_uid, user.pointee.pw_gid) == 0)
    }

    /// Replaces another authority's root certificate by this one's.
    func replace(_ other: borrowing Authority) {
        writeFile(String(decoding: readFile(root) ?? [], as: UTF8.self), to: other.root)
    }
}

@Suite(
    "A node and the database prove who they are",
    .needsPostgreSQL,
    .needs(program: "/usr/bin/openssl", of: "openssl"))
struct CredentialTests: ~Copyable {
    private let authority = Authority()
    private let files = TemporaryDirectory()
    /// An address of this machine on which no other test listens.
    private let host = "127.83.\(UInt8.random(in: .min ... .max)).\(UInt8.random(in: 1...254))"
    private let server: PostgreSQLServer

    init() throws {
        authority.issue("server", subject: "database", alternative: "IP:\(host)", owner: "postgres")
        chmod(files.path, 0o755)
        writeFile(
            """
            local all all trust
            hostssl all certified all cert
            hostssl all all all scram-sha-256

            """, to: files.path + "/hba")
        server = PostgreSQLServer(settings: [
            "listen_addresses=\(host)", "hba_file=\(files.path)/hba", "ssl=on",
            "ssl_cert_file=\(authority.directory.path)/server.pem",
            "ssl_key_file=\(authority.directory.path)/server.key", "ssl_ca_file=\(authority.root)",
        ])
        server.sql("CREATE ROLE push LOGIN SUPERUSER PASSWORD 'old'; CREATE ROLE certified LOGIN SUPERUSER")
        _ = try FleetDatabase.initialise(
            try ConnectionString(server.address()), state: UUID128(high: 1, low: 2))
    }

    private func engine(_ user: String, root: String, _ more: String = "") throws -> PostgreSQLEngine {
        let words =
            "host=\(host) port=5432 dbname=postgres user=\(user) sslmode=verify-full sslrootcert=\(root) \(more)"
        return PostgreSQLEngine(
            EngineOptions(
                address: try ConnectionString(words), durability: .engine, node: "a", role: .read, time: .seconds(5)))
    }

    /// Ends the sessions, as a restart of the database does: the next call reconnects.
    private func endSessions() {
        server.sql(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name LIKE 'pushrouterd-%'")
    }

    private func writePassword(_ password: String) {
        let file = files.path + "/pass"
        writeFile("*:*:*:push:\(password)\n", to: file)
        chmod(file, 0o400)
    }

    @Test("a changed password is read from its file at the next connection, without a restart")
    func password() throws {
        writePassword("old")
        let engine = try engine("push", root: authority.root, "passfile=\(files.path)/pass")
        #expect(try engine.identity().state == UUID128(high: 1, low: 2))
        server.sql("ALTER ROLE push PASSWORD 'new'")
        endSessions()
        _ = try? engine.identity()
        let refused = try #require(throws: EngineProblem.self) { try engine.identity() }
        #expect(refused.kind == .unreachable && refused.code == "28P01", "\(refused)")
        writePassword("new")
        #expect(try engine.identity().state == UUID128(high: 1, low: 2))
    }

    @Test("a password file that others may read is named as the cause, and used after its mode is right")
    func openPassword() throws {
        writePassword("old")
        chmod(files.path + "/pass", 0o644)
        let engine = try engine("push", root: authority.root, "passfile=\(files.path)/pass")
        let refused = try #require(throws: EngineProblem.self) { try engine.identity() }
        #expect(refused.kind == .unreachable && refused.message.contains("no password supplied;"), "\(refused)")
        #expect(refused.message.hasSuffix("its mode is 0644; run chmod 600 \(files.path)/pass"), "\(refused)")
        chmod(files.path + "/pass", 0o600)
        #expect(try engine.identity().state == UUID128(high: 1, low: 2))
    }

    @Test("a database with a certificate of another authority is refused, until the file names that authority")
    func authorities() throws {
        let other = Authority()
        let engine = try engine("push", root: other.root, "password=old")
        let refused = try #require(throws: EngineProblem.self) { try engine.identity() }
        #expect(refused.kind == .unreachable && refused.message.hasSuffix("certificate verify failed"), "\(refused)")
        authority.replace(other)
        #expect(try engine.identity().state == UUID128(high: 1, low: 2))
    }

    @Test("a database with another name in its certificate is refused")
    func name() throws {
        authority.issue("server", subject: "database", alternative: "IP:127.0.0.9", owner: "postgres")
        server.sql("SELECT pg_reload_conf()")
        let engine = try engine("push", root: authority.root, "password=old")
        // The server rereads its files a moment later.
        var refused: EngineProblem?
        for _ in 0..<400 where refused == nil {
            do throws(EngineProblem) {
                _ = try engine.identity()
                endSessions()
                usleep(5000)
            } catch {
                if error.message.hasSuffix("does not match host name \"\(host)\"") { refused = error }
            }
        }
        #expect(refused?.kind == .unreachable)
    }

    @Test("a node with a client key uses a renewed one at the next connection")
    func key() throws {
        let directory = authority.directory.path
        authority.issue("node", subject: "certified")
        let engine = try engine(
            "certified", root: authority.root, "sslcert=\(directory)/node.pem sslkey=\(directory)/node.key")
        #expect(try engine.identity().state == UUID128(high: 1, low: 2))
        authority.issue("node", subject: "somebody")
        endSessions()
        _ = try? engine.identity()
        let refused = try #require(throws: EngineProblem.self) { try engine.identity() }
        #expect(refused.code == "28000", "\(refused)")
        authority.issue("node", subject: "certified")
        #expect(try engine.identity().state == UUID128(high: 1, low: 2))
    }
}
