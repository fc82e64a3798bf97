import PushModel

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
    /// Its other spelling, which curl and requests prefer.
    public static let proxyInLowerCase = "https_proxy"
    /// The variables for hosts that clients ask without the proxy.
    public static let exceptions = ["NO_PROXY", "no_proxy"]

    /// A variable with its value.
    public typealias Variable = (name: String, value: String)

    /// Returns the variables with their values.
    ///
    /// - Parameters:
    ///   - bundle: a file with the system's authorities and the gateway's.
    ///   - authority: a file with the gateway's authority alone.
    ///   - proxy: the gateway's address.
    ///   - environment: the value of a variable of the client.
    public static func all(
        bundle: String, authority: String, proxy: String, environment: (String) -> String?
    ) -> [Variable] {
        let proxies = [self.proxy, proxyInLowerCase].map { ($0, "http://\(proxy)") }
        return bundles.map { ($0.name, bundle) } + additions.map { ($0.name, authority) } + proxies
            + exceptions.compactMap { name in environment(name).flatMap(corrected).map { (name, $0) } }
    }

    /// Corrects a list of hosts that clients ask without the proxy: a push host in it would be the real one.
    ///
    /// - Returns: the list without those parts; `nil` if it has none.
    public static func corrected(_ exceptions: String) -> String? {
        let parts = exceptions.split { $0 == "," || $0 == " " }
        let good = parts.filter { part in
            let domain = part.drop { $0 == "*" || $0 == "." }.prefix { $0 != ":" }.lowercased()
            return part != "*" && !PushHost.names.contains { $0.name == domain || $0.name.hasSuffix(".\(domain)") }
        }
        return good.count == parts.count ? nil : good.joined(separator: ",")
    }

    /// Returns lines for a POSIX shell, which say who reads a variable.
    public static func exports(_ variables: [Variable]) -> String {
        let readers = Dictionary(uniqueKeysWithValues: (bundles + additions).map { ($0.name, $0.readers) })
        return variables.map { name, value in
            "export \(name)=\(value.asShellWord)" + (readers[name].map { "  # \($0)" } ?? "") + "\n"
        }.joined()
    }
}
