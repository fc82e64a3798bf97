import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("The secrets of an http handler", .timeLimit(.minutes(30)))
struct HTTPSecretTests {
    private let installation = Installation()
    private var secretFile: String { installation.root + "/secret" }
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let newSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"

    private func writeSecret(_ text: String, mode: mode_t = 0o600) {
        writeFile(text, to: secretFile + ".new")
        chmod(secretFile + ".new", mode)
        rename(secretFile + ".new", secretFile)
    }

    /// Checks signatures like a receiver in Python, and prints the number of valid requests.
    private func verify(_ requests: String, secret: String) -> Program.Result {
        let script = """
            import base64, hashlib, hmac, json, sys
            key = base64.b64decode(sys.argv[2][6:])
            right = 0
            for line in open(sys.argv[1]):
                request = json.loads(line)
                headers = request["headers"]
                text = headers["webhook-id"] + "." + headers["webhook-timestamp"] + "." + request["body"]
                code = base64.b64encode(hmac.new(key, text.encode(), hashlib.sha256).digest()).decode()
                right += ("v1," + code) in headers["webhook-signature"].split(" ")
            print(right)
            """
        return Program(path: "/usr/bin/python3").run(["-c", script, requests, secret])
    }

    @Test("sign requests; a changed file applies from the next request on, with both secrets if it has two")
    func signs() throws {
        let server = try WebServer(in: installation.root + "/web")
        writeSecret(Self.secret + "\n")
        installation.addHTTP("crm", server.url("ok"), handler: "SecretFile=\(secretFile)")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        func deliver() throws { #expect(try client.outcome(of: Requests.deliver(job: "crm")).outcome == "handled") }
        try deliver()
        writeSecret("\(Self.secret)\n\(Self.newSecret)\n")
        try deliver()
        writeSecret(Self.newSecret)
        try deliver()
        let log = server.directory + "/requests"
        #expect(verify(log, secret: Self.secret).output == "2\n")
        #expect(verify(log, secret: Self.newSecret).output == "2\n")
    }

    @Test("are refused if others may read them or they are malformed; nothing is sent, and no message shows them")
    func refuses() throws {
        let server = try WebServer(in: installation.root + "/web")
        writeSecret(Self.secret, mode: 0o644)
        installation.addHTTP("crm", server.url("ok"), handler: "SecretFile=\(secretFile)")
        installation.addHTTP("gone", server.url("ok"), handler: "BearerFile=\(secretFile).gone")
        let verify = pushctl.run(["verify", "--config", installation.configuration])
        #expect(verify.output.contains("SecretFile=\(secretFile): its mode is 644"), "\(verify.output)")
        #expect(verify.output.contains("BearerFile=\(secretFile).gone: No such file or directory"))
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        let open = try client.outcome(of: Requests.deliver(job: "crm"))
        let reason = "nothing was sent: the file with the signing secret may be read by others: chmod 600 \(secretFile)"
        #expect(open.outcome == "failed" && open.reason?.contains(reason) == true, "\(open)")
        writeSecret(Self.secret + " and more")
        let wrong = try client.outcome(of: Requests.deliver(job: "crm"))
        #expect(wrong.outcome == "failed" && wrong.reason?.contains("that is not Base64") == true, "\(wrong)")
        let gone = try client.outcome(of: Requests.deliver(job: "gone"))
        #expect(gone.outcome == "failed" && gone.reason?.contains("cannot read the bearer token") == true, "\(gone)")
        #expect(server.requests.isEmpty)
        writeSecret(Self.secret)
        #expect(try client.outcome(of: Requests.deliver(job: "crm")).outcome == "handled")
        let told = daemon.standardError + verify.output + [open, wrong, gone].map { "\($0)" }.joined()
        #expect(!told.contains(Self.secret.dropFirst(6)))
    }

    @Test("can be a bearer token, and CAFile= decides which servers are trusted")
    func tls() throws {
        guard let authority = TestAuthority(in: installation.root) else {
            return leaveUntested("TLS, as openssl is not installed")
        }
        let server = try WebServer(
            in: installation.root + "/web", certificate: (authority.certificate, authority.key))
        writeSecret("a.token-of.mine\n")
        installation.addHTTP(
            "crm", server.url("ok"), handler: "BearerFile=\(secretFile)\nCAFile=\(authority.file)")
        installation.addHTTP("stranger", server.url("ok"), handler: "BearerFile=\(secretFile)")
        installation.addHTTP(
            "name", server.url("ok").replacing("127.0.0.1", with: "localhost"), handler: "CAFile=\(authority.file)")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        for _ in 0..<3 { #expect(try client.outcome(of: Requests.deliver(job: "crm")).outcome == "handled") }
        #expect(server.requests.allSatisfy { $0.header("authorization") == "Bearer a.token-of.mine" })
        #expect(Set(server.requests.compactMap { $0["connection"]?.int64 }).count == 1)
        for job in ["stranger", "name"] {
            #expect(try client.outcome(of: Requests.deliver(job: job)).outcome == "failed")
            try waitUntil("the journal says why") { daemon.standardError.contains("\(job): no answer: SSL") }
        }
        #expect(server.requests.count == 3, "a server that nobody vouches for gets nothing")
        #expect(!daemon.standardError.contains("token-of"))
    }
}

@Suite("Requests of http handlers, read by other implementations", .timeLimit(.minutes(30)))
struct HTTPInteropTests {
    private let installation = Installation()
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    /// Returns a Python with the two packages; `nil` if they cannot be installed.
    private func python() -> String? {
        let environment = installation.root + "/venv"
        let variables = ["PIP_INDEX_URL", "PIP_CERT", "PIP_TRUSTED_HOST", "HOME", "https_proxy", "SSL_CERT_FILE"]
        let values = Dictionary(
            variables.compactMap { name in getenv(name).map { (name, String(cString: $0)) } }, uniquingKeysWith: { $1 })
        let steps = [
            ["/usr/bin/python3", "-m", "venv", environment],
            [
                "\(environment)/bin/pip", "install", "--quiet", "--disable-pip-version-check",
                "standardwebhooks==1.1.0",
                "cloudevents==1.13.0",
            ],
        ]
        for step in steps {
            let result = Program(path: step[0]).run(Array(step.dropFirst()), environment: values)
            guard result.end == .exited(0) else {
                leaveUntested("standardwebhooks and cloudevents of PyPI: \(step[0]): \(result.errors.suffix(200))")
                return nil
            }
        }
        return "\(environment)/bin/python"
    }

    @Test("are CloudEvents events in both modes, with signatures of Standard Webhooks")
    func packages() throws {
        guard let python = python() else { return }
        let server = try WebServer(in: installation.root + "/web")
        writeFile(Self.secret, to: installation.root + "/secret")
        chmod(installation.root + "/secret", 0o600)
        for (job, format) in [("binary", "cloudevents"), ("structured", "cloudevents-structured")] {
            installation.addHTTP(
                job, server.url(job), handler: "Format=\(format)\nSecretFile=\(installation.root)/secret")
        }
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        for job in ["binary", "structured"] {
            #expect(try client.outcome(of: Requests.deliver(job: job)).outcome == "handled")
        }
        let script = WebServer.fixtures + "/http-interop.py"
        let result = Program(path: python).run([script, server.directory + "/requests", Self.secret])
        #expect(result.output == "2\n", "\(result)")
    }

    @Test("share one connection by HTTP/2 if the server offers it under TLS")
    func http2() throws {
        let nghttpd = "/usr/sbin/nghttpd"
        guard access(nghttpd, X_OK) == 0, let authority = TestAuthority(in: installation.root) else {
            return leaveUntested("HTTP/2, as nghttpd (nghttp2-server) or openssl is not installed")
        }
        let port = try freePort()
        let log = installation.root + "/http2"
        let command = "exec \(nghttpd) -v -a 127.0.0.1 \(port) \(authority.key) \(authority.certificate) >\(log)"
        let server = try Service(["/bin/sh", "-c", command + " --echo-upload"])
        defer { withExtendedLifetime(server) {} }
        try waitUntil("the server listens") { isListening(port) }
        installation.addHTTP("crm", "https://127.0.0.1:\(port)/push", handler: "CAFile=\(authority.file)")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        for _ in 0..<20 { try client.send(line: Requests.deliver(job: "crm")) }
        var outcomes: [String] = []
        while outcomes.count < 20 { if let outcome = try client.next().outcome { outcomes.append(outcome) } }
        #expect(outcomes.allSatisfy { $0 == "handled" }, "\(outcomes)")
        #expect(try daemon.stop() == .exited(0))
        let lines = String(decoding: readFile(log) ?? [], as: UTF8.self).split(separator: "\n")
        let posts = lines.filter { $0.contains(":method: POST") }
        #expect(posts.count == 20)
        #expect(Set(posts.compactMap { $0.split(separator: "]").first }).count == 1, "one connection")
    }
}

/// A certificate authority, and a server's certificate for 127.0.0.1.
struct TestAuthority {
    let file: String
    let certificate: String
    let key: String

    /// - Parameter directory: the directory for its files.
    init?(in directory: String) {
        let openssl = "/usr/bin/openssl"
        guard access(openssl, X_OK) == 0 else { return nil }
        file = directory + "/ca.pem"
        certificate = directory + "/server.pem"
        key = directory + "/server.key"
        writeFile("subjectAltName=IP:127.0.0.1\n", to: directory + "/extensions")
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        let steps = [
            ["req", "-x509"] + curve + [
                "-keyout", "\(directory)/ca.key", "-out", file, "-days", "2", "-subj", "/CN=Test",
            ],
            ["req"] + curve + ["-keyout", key, "-out", "\(directory)/server.csr", "-subj", "/CN=server"],
            [
                "x509", "-req", "-in", "\(directory)/server.csr", "-CA", file, "-CAkey", "\(directory)/ca.key",
                "-CAcreateserial", "-out", certificate, "-days", "2", "-extfile", "\(directory)/extensions",
            ],
        ]
        for step in steps where Program(path: openssl).run(step).end != .exited(0) { return nil }
    }
}
