/// The environment variables that make clients of FCM and APNs use a gateway; each client reads some of them.
///
/// Source: clients seen to reach a gateway unmodified (H.1 of the notes beside the recordings).
public enum ClientVariables {
    /// The variables for certificates that a client trusts **instead of** the system's, so the file needs both.
    public static let bundles: [(name: String, readers: String)] = [
        ("SSL_CERT_FILE", "OpenSSL, httpx, aiohttp, aioapns, Go"),
        ("REQUESTS_CA_BUNDLE", "requests: firebase-admin for Python, pyfcm"),
        ("HTTPLIB2_CA_CERTS", "httplib2: google-api-python-client"),
        ("CURL_CA_BUNDLE", "curl"),
    ]
    /// The variables for certificates that a client trusts in addition to the system's.
    public static let additions: [(name: String, readers: String)] = [("NODE_EXTRA_CA_CERTS", "Node.js")]
    /// The variable for the gateway as the proxy of the push hosts.
    public static let proxy = "HTTPS_PROXY"

    /// Returns lines for a POSIX shell.
    ///
    /// - Parameters:
    ///   - bundle: a file with the system's authorities and the gateway's.
    ///   - authority: a file with the gateway's authority alone.
    ///   - proxy: the gateway's address; `nil` if the names of the push hosts resolve to the gateway's machine.
    public static func exports(bundle: String, authority: String, proxy: String?) -> String {
        var lines = bundles.map { "export \($0.name)=\(quoted(bundle))  # \($0.readers)" }
        lines += additions.map { "export \($0.name)=\(quoted(authority))  # \($0.readers)" }
        if let proxy { lines.append("export \(self.proxy)=\(quoted("http://\(proxy)"))") }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
