import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PostgreSQL
@testable import PushModel

@Suite("The connection string of the engine")
struct ConnectionStringTests {
    private func parameters(_ text: String) throws -> [String: String] {
        let address = try ConnectionString(text)
        let all = address.parameters(for: address.hosts[0], session: SessionSettings(applicationName: "x/0/a"))
        return Dictionary(uniqueKeysWithValues: all.map { ($0.keyword, $0.value) })
    }

    @Test("has several hosts, each with a port")
    func hosts() throws {
        let address = try ConnectionString("postgresql://u:p@db1:5433,db2/push")
        #expect(address.hosts.map(\.name) == ["db1", "db2"])
        #expect(address.hosts.map(\.port) == ["5433", nil])
        #expect(try ConnectionString("host=a,b port=1").hosts.map(\.port) == ["1", "1"])
        #expect(try ConnectionString("dbname=push").hosts.count == 1)
        #expect(throws: EngineProblem.self) { try ConnectionString("host=a,b,c port=1,2") }
    }

    @Test("is overridden where the program is stricter")
    func strictness() throws {
        let written = try parameters("host=a tcp_user_timeout=900000 keepalives_idle=2 keepalives=0 connect_timeout=0")
        #expect(written["tcp_user_timeout"] == "5000" && written["keepalives_idle"] == "2")
        #expect(written["keepalives"] == "1" && written["connect_timeout"] == "5")
        let session = try parameters(
            "host=a application_name=me target_session_attrs=any options=-csynchronous_commit=off")
        #expect(session["application_name"] == "x/0/a" && session["target_session_attrs"] == "read-write")
        let options = try #require(session["options"])
        #expect(options.hasPrefix("-csynchronous_commit=off -c synchronous_commit=on "))
    }

    @Test("names the parameters that libpq does not know, and nothing that may be a password")
    func unknownParameters() throws {
        func message(_ text: String) -> String {
            do throws(EngineProblem) {
                return "\(try ConnectionString(text))"
            } catch {
                return error.message
            }
        }
        let sslmode = "libpq has no parameter sslmod; did you mean sslmode?"
        let passfile = "libpq has no parameter passfil; did you mean passfile?"
        #expect(
            message("postgresql://u:p@h/push?sslmod=require&connect_timeout=1&passfil=/x")
                == "\(sslmode); \(passfile)")
        #expect(message("postgres://h/push?sslmod=require") == sslmode)
        #expect(message("postgresql://h/push?sslmode=require&unlike=1") == "libpq does not know parameter 2")
        #expect(message("postgresql://h/push?sslmode=require&ssl=true") == "h")
        for text in [
            "postgresql://u:x?geheim=1@h/push?sslmod=a", "postgresql://u@h/push?password=x&geheim=1",
            "postgresql://u@h/push?ge%68eim=1",
        ] {
            #expect(!message(text).contains("geheim") && message(text) != "h", "\(text): \(message(text))")
        }
        #expect(message("postgresql://u:x?geheim=1@h/push?sslmod=a") == sslmode)
    }

    @Test("never shows its password, not even where it cannot be read")
    func password() throws {
        for text in ["postgresql://u@h/push?geheim", "host='h password=geheim", "geheim"] {
            let problem = #expect(throws: EngineProblem.self) { try ConnectionString(text) }
            #expect(problem.map { !shows($0, "geheim") } == true, "\(text)")
        }
        let address = try ConnectionString("postgresql://u:geheim@h/push")
        #expect(!shows(address, "geheim") && "\(address)" == "h")
    }

    /// Whether a value's descriptions contain a word.
    private func shows(_ value: Any, _ word: String) -> Bool {
        var dumped = ""
        dump(value, to: &dumped)
        let text = Array("\(value) \(dumped)".utf8)
        return text.indices.contains { text[$0...].starts(with: word.utf8) }
    }

    @Test("names the password file that libpq does not use, and why, when the connection fails")
    func passwordFile() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/pass"
        // No server has a socket in this directory.
        func message(_ more: String = "") throws -> String {
            let address = try ConnectionString("host=\(directory.path) user=push passfile=\(path) \(more)")
            let engine = PostgreSQLEngine(
                EngineOptions(address: address, durability: .engine, node: "a", role: .read, time: .seconds(5)))
            return try #require(throws: EngineProblem.self) { try engine.identity() }.message
        }
        #expect(try message().hasSuffix("; the password file \(path) cannot be read: No such file or directory"))
        writeFile("*:*:*:push:geheim\n", to: path)
        for (mode, text) in [(0o644, "0644"), (0o640, "0640"), (0o604, "0604"), (0o610, "0610")] as [(mode_t, String)] {
            chmod(path, mode)
            let sentence = "; libpq ignores the password file \(path): its mode is \(text); run chmod 600 \(path)"
            let (said, other) = (try message(), try message("password=other"))
            #expect(said.hasSuffix(sentence), "\(said)")
            #expect(!other.contains("password file"), "libpq does not look into the file")
        }
        for mode in [0o600, 0o400] as [mode_t] {
            chmod(path, mode)
            #expect(try !message().contains("password file"), "\(mode)")
        }
        let hosts = try ConnectionString("host=/a,/b user=push passfile=\(directory.path)")
        let engine = PostgreSQLEngine(
            EngineOptions(address: hosts, durability: .engine, node: "a", role: .read, time: .seconds(5)))
        let all = try #require(throws: EngineProblem.self) { try engine.identity() }.message
        let sentence = "; libpq ignores the password file \(directory.path): it is not a regular file"
        #expect(all.hasSuffix(sentence) && all.ranges(of: "password file").count == 1, "\(all)")
    }

    @Test("has a class for every SQLSTATE of the server")
    func stateCodes() throws {
        for code in ["08006", "25006", "40001", "40P01", "53300", "55P03", "57P01", "57P03", "57014", ""] {
            #expect(StateCodes.kind(of: code) == .unreachable, "\(code)")
        }
        for code in ["53100", "53200", "58030", "XX000", "XX001", "23505", "ZZ999"] {
            #expect(StateCodes.kind(of: code) == .failing, "\(code)")
        }
        for code in ["42P01", "3D000", "42501", "42703", "57P04"] {
            #expect(StateCodes.kind(of: code) == .lacking && StateCodes.hint(of: code) != nil, "\(code)")
        }
        // The server's own list, if it is installed.
        let list = readFile("/usr/share/postgresql/15/errcodes.txt") ?? []
        for line in String(decoding: list, as: UTF8.self).split(separator: "\n") {
            let code = line.prefix(5)
            guard code.count == 5, code.allSatisfy({ $0.isUppercase || $0.isNumber }), line.dropFirst(5).first == " "
            else { continue }
            #expect(StateCodes.table[String(code.prefix(2))] != nil, "\(code)")
        }
    }
}

@Suite("A host that never answers")
struct SilentHostTests {
    /// A socket that accepts connections and sends nothing.
    private struct SilentHost: ~Copyable {
        let descriptor: FileDescriptor
        let port: UInt16

        init() throws {
            descriptor = FileDescriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let number = descriptor.rawValue
            let result = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(number, $0, length) + listen(number, 8) + getsockname(number, $0, &length)
                }
            }
            try #require(result == 0)
            port = UInt16(bigEndian: address.sin_port)
        }
    }

    private func engine(_ address: String, time: Duration) throws -> PostgreSQLEngine {
        PostgreSQLEngine(
            EngineOptions(
                address: try ConnectionString(address), durability: .engine, node: "a", role: .log, time: time))
    }

    @Test("is given up within the time limit")
    func givenUp() throws {
        let host = try SilentHost()
        let engine = try engine("postgresql://u:geheim@127.0.0.1:\(host.port)/push", time: .milliseconds(300))
        var result: AppendResult?
        let time = elapsed { result = engine.append(batch(1)) }
        #expect(
            result?.problem
                == EngineProblem(
                    .unreachable, message: "the database did not answer in time (connecting)"))
        #expect(.milliseconds(280)...Duration.seconds(3) ~= time)
    }

    @Test(
        "is skipped for the next host", .needsPostgreSQL,
        RunningServerOfTest())
    func passedOver() throws {
        let server = try #require(RunningServer.current)
        let host = try SilentHost()
        let address =
            "host=127.0.0.1,\(server.root) port=\(host.port),5432 user=postgres dbname=\(RunningServer.template)"
        let engine = try engine(address, time: .seconds(2))
        #expect(try engine.tail().reference == .start)
    }
}

/// Runs a server for one test.
struct RunningServerOfTest: TestTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await RunningServer().provideScope(for: test, testCase: testCase, performing: function)
    }
}
