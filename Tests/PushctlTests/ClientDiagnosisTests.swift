import PushModel
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
}
