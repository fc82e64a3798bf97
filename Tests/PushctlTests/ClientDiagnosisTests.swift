import PushModel
import PushSettings
import PushViews
import Testing

@testable import pushctl

@Suite("What doctor --client says of a request through the proxy")
struct ClientDiagnosisTests {
    @Test(
        "tells each failure of curl from the others, and an answer of another program from the gateway's",
        arguments: [
            (0, #"{"authorities":"","clients":[]}"#, "a request to fcm.googleapis.com arrives"),
            (0, #"{"error":{"code":404}}"#, "which leads to no gateway of pushrouterd on this machine"),
            (5, "", "there is no such host"), (7, "", "nothing listens there"), (28, "", "which does not answer"),
            (60, "", "the certificates in /ca.pem do not vouch for its TLS"),
            (56, "curl: (56) CONNECT tunnel failed, response 403\n", "HTTPS_PROXY is http://a:1: curl: (56) CONNECT"),
            (127, "sh: 1: curl: not found", "curl is missing"),
        ])
    func probes(status: Int32, text: String, words: String) {
        let finding = ClientDiagnosis.finding(ofProbeOf: "http://a:1", "/ca.pem", status: status, text: text)
        #expect("\(finding)".contains(words), "\(finding)")
    }

    @Test(
        "names a list of exceptions that leads push hosts past the gateway, and keeps its other hosts",
        arguments: [
            ("*", ""), (".googleapis.com", ""), ("localhost,api.push.apple.com, db.internal", "localhost,db.internal"),
            ("*.apple.com", ""), ("fcm.googleapis.com:443", ""), ("localhost,127.0.0.1", nil), ("apis.com", nil),
        ] as [(String, String?)])
    func exceptions(_ value: String, _ corrected: String?) {
        #expect(ClientVariables.corrected(value) == corrected)
        let variables = ClientVariables.all(bundle: "/b", authority: "/a", proxy: "h:1") {
            $0 == "no_proxy" ? value : nil
        }
        #expect(variables.first { $0.name == "no_proxy" }?.value == corrected)
        let findings = ClientDiagnosis.findings(
            authorities: "", environment: { $0 == "NO_PROXY" ? value : "http://h:1" }, contents: { _ in [] })
        #expect(findings.contains { "\($0)".contains("NO_PROXY is \(value): clients ask") } == (corrected != nil))
    }

    @Test("names a proxy in lower case that is another one")
    func lowerCase() {
        func findings(_ lower: String) -> [HealthFinding] {
            let values = ["HTTPS_PROXY": "http://h:1", "https_proxy": lower]
            return ClientDiagnosis.findings(authorities: "", environment: { values[$0] }, contents: { _ in [] })
        }
        #expect(findings("http://other:9").contains { "\($0)".contains("https_proxy is http://other:9") })
        #expect(!findings("http://h:1").contains { "\($0)".contains("https_proxy") })
    }
}
