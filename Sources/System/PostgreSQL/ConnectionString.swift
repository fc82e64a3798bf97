import CPostgreSQL
public import PushFleet
import PushModel

/// What a person wrote to say where the engine is, in libpq's forms: `postgresql://a,b/push` or `host=a,b dbname=push`.
///
/// It may hold a password: nothing of it but hosts and ports is ever shown, in a message or a debugger.
public struct ConnectionString: Sendable, CustomStringConvertible, CustomReflectable {
    private let parameters: [String: String]

    /// Reads one.
    ///
    /// - Throws: `.notOurs` if it is not in one of libpq's forms, or the numbers of hosts and ports do not fit.
    public init(_ text: String) throws(EngineProblem) {
        var complaint: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(text, &complaint) else {
            // libpq's own words repeat parts of the text, and one of them may be a password.
            PQfreemem(complaint)
            throw EngineProblem(.notOurs, message: Self.complaint(of: text))
        }
        defer { PQconninfoFree(options) }
        var parameters: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { parameters[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        self.parameters = parameters
        hosts = try Self.hosts(parameters)
    }

    /// The fault of a text that libpq does not read.
    private static func complaint(of text: String) -> String {
        let known = knownParameters
        let complaints = names(in: text).enumerated().filter { !known.contains($0.element) }.map { place, name in
            // What a password holds that was not encoded looks like a parameter, so only a name that is misspelt is repeated.
            nearest(to: name, among: known).map { "\(name) is no parameter of libpq's; \($0) is one" }
                ?? "libpq does not know parameter \(place + 1)"
        }
        return complaints.isEmpty
            ? "the engine's address is not in one of libpq's forms (postgresql://HOST/DATABASE?PARAMETER=VALUE)"
            : complaints.joined(separator: "; ")
    }

    /// The names of the parameters of a URI, in order.
    private static func names(in text: String) -> [String] {
        guard let scheme = ["postgresql://", "postgres://"].first(where: { text.hasPrefix($0) }) else { return [] }
        let rest = text.dropFirst(scheme.count)
        // As libpq has it: user and password are before an @ that no slash comes before, and may hold a question mark.
        let end = rest.firstIndex { $0 == "@" || $0 == "/" }
        let place = end.map { rest[$0] == "@" ? rest[$0...].dropFirst() : rest } ?? rest
        return place.split(separator: "?", maxSplits: 1).dropFirst().flatMap { $0.split(separator: "&") }.compactMap {
            part in part.firstIndex(of: "=").map { String(part[..<$0]) }
        }
    }

    private static var knownParameters: Set<String> {
        // A URI may say ssl=true.
        var known: Set<String> = ["ssl"]
        guard let options = PQconndefaults() else { return known }
        defer { PQconninfoFree(options) }
        var option = options
        while let keyword = option.pointee.keyword {
            known.insert(String(cString: keyword))
            option += 1
        }
        return known
    }

    public var description: String { hosts.map(\.description).joined(separator: ", ") }

    public var customMirror: Mirror { Mirror(self, children: []) }

    /// The hosts, one after the other, each with what libpq calls it.
    let hosts: [Host]

    /// One of the hosts.
    struct Host: Sendable {
        var name: String?
        var address: String?
        var port: String?

        /// For messages: `db1:5432`.
        var description: String {
            let host = name ?? address ?? "the local socket"
            return port.map { "\(host):\($0)" } ?? host
        }
    }

    /// libpq tries the next host after a timeout only where the connecting blocks, so each host is tried on its own.
    private static func hosts(_ parameters: [String: String]) throws(EngineProblem) -> [Host] {
        func list(_ keyword: String) -> [String] {
            guard let value = parameters[keyword], !value.isEmpty else { return [] }
            return value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let (names, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        let count = max(1, names.count, addresses.count)
        guard names.isEmpty || names.count == count, addresses.isEmpty || addresses.count == count,
            ports.count <= 1 || ports.count == count
        else {
            throw EngineProblem(.notOurs, message: "the engine's address has other numbers of hosts and ports")
        }
        return (0..<count).map { index in
            func part(_ list: [String], _ index: Int) -> String? {
                list.indices.contains(index) && !list[index].isEmpty ? list[index] : nil
            }
            return Host(
                name: part(names, index), address: part(addresses, index),
                port: part(ports, ports.count == 1 ? 0 : index))
        }
    }

    /// The keywords and values that a session has with one of the hosts.
    ///
    /// What the person wrote wins where it is stricter: a shorter time. What a session depends on is ours in any case.
    func parameters(for host: Host, session: SessionSettings) -> [(keyword: String, value: String)] {
        var merged = parameters
        (merged["host"], merged["hostaddr"], merged["port"]) = (host.name, host.address, host.port)
        for (keyword, limit) in SessionSettings.limits {
            let written = merged[keyword].flatMap { Int64($0) } ?? 0
            merged[keyword] = String(written > 0 ? min(written, limit) : limit)
        }
        merged["keepalives"] = "1"
        merged["application_name"] = session.applicationName
        merged["client_encoding"] = "UTF8"
        if session.mustWrite { merged["target_session_attrs"] = "read-write" }
        // Kerberos would ask a server of its own, for as long as that takes.
        if merged["gssencmode"] == nil { merged["gssencmode"] = "disable" }
        // The last of two values wins: ours.
        let options = SessionSettings.options.map { "-c \($0)=\($1)" }.joined(separator: " ")
        merged["options"] = merged["options"].map { "\($0) \(options)" } ?? options
        return merged.sorted { $0.key < $1.key }.map { (keyword: $0.key, value: $0.value) }
    }
}

/// What all sessions have in common.
struct SessionSettings: Sendable {
    /// The name that other sessions know it by.
    var applicationName: String
    /// Whether a host is refused that is a standby.
    var mustWrite = true

    /// What libpq watches a connection by, in seconds, a number, and milliseconds: a host without power is noticed
    /// although it closes nothing.
    static let limits: [(keyword: String, limit: Int64)] = [
        ("connect_timeout", 5), ("keepalives_idle", 3), ("keepalives_interval", 1), ("keepalives_count", 3),
        ("tcp_user_timeout", 5000),
    ]

    /// The server's settings for a session, stronger than those of its files, of the database and of the role.
    static let options: [(name: String, value: String)] = [
        // A commit that returns is on the disk, and on the standby's where there is one.
        ("synchronous_commit", "on"),
        // A cancelled wait for the standby is told by a warning alone.
        ("client_min_messages", "warning"),
        ("default_transaction_isolation", "read\\ committed"),
        // A late copy of an append ends long before its number may be deleted (ten minutes).
        ("statement_timeout", "5000"),
        // A dead session's uncommitted batch stops nobody for longer.
        ("lock_timeout", "700"),
        // The server's own end of the connection, where a node has no power any more.
        ("tcp_keepalives_idle", "3"), ("tcp_keepalives_interval", "1"), ("tcp_keepalives_count", "3"),
        ("tcp_user_timeout", "5000"),
    ]
}
