import CPostgreSQL
import Glibc
import LinuxSystem
public import PushModel

/// The engine's address from the configuration, in libpq's forms: `postgresql://a,b/push` or `host=a,b dbname=push`.
///
/// It may hold a password: messages and debuggers show only hosts and ports of it.
public struct ConnectionString: Sendable, CustomStringConvertible, CustomReflectable {
    private let parameters: [String: String]

    /// Parses an address.
    ///
    /// - Throws: `.wrongDatabase` if the text is not in one of libpq's forms, or if the numbers of hosts and ports
    ///   differ.
    public init(_ text: String) throws(EngineProblem) {
        var complaint: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(text, &complaint) else {
            // libpq's message repeats parts of the text, which may include a password.
            PQfreemem(complaint)
            throw EngineProblem(.wrongDatabase, message: Self.complaint(of: text))
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
            // A part of a password that was not encoded looks like a parameter: the message repeats only a misspelt name.
            nearest(to: name, among: known).map { "libpq has no parameter \(name); did you mean \($0)?" }
                ?? "libpq does not know parameter \(place + 1)"
        }
        return complaints.isEmpty
            ? "libpq cannot read the address: write postgresql://HOST/DATABASE?PARAMETER=VALUE"
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

    /// The fault of the file of `passfile=`, for which libpq sends no password and gives no reason; `nil`: there is none,
    /// or the address has no such file.
    var passwordFileFault: String? {
        guard let path = parameters["passfile"], !path.isEmpty, parameters["password", default: ""].isEmpty else {
            return nil
        }
        // O_NONBLOCK: without it, the open of a pipe would wait for a writer.
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        var facts = stat()
        guard let file = FileDescriptor(open(path, flags)), fstat(file.rawValue, &facts) == 0 else {
            return "the password file \(path) cannot be read: \(errorText(errno))"
        }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            return "libpq ignores the password file \(path): it is not a regular file"
        }
        guard facts.st_mode & 0o077 == 0 else {
            let mode = String(facts.st_mode & 0o777 | 0o1000, radix: 8).dropFirst()
            return "libpq ignores the password file \(path): its mode is 0\(mode); run chmod 600 \(path)"
        }
        return nil
    }

    /// The hosts in order, each with libpq's parameters for it.
    let hosts: [Host]

    /// One of the hosts.
    struct Host: Sendable {
        var name: String?
        var address: String?
        var port: String?

        /// The host in messages: `db1:5432`.
        var description: String {
            let host = name ?? address ?? "the local socket"
            return port.map { "\(host):\($0)" } ?? host
        }
    }

    /// Splits the hosts, so that each can be tried alone: a nonblocking libpq does not try the next host after a
    /// timeout.
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
            throw EngineProblem(.wrongDatabase, message: "the address needs as many ports and hostaddr as hosts")
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

    /// Returns the keywords and values for a session with one of the hosts.
    ///
    /// A shorter timeout in the address wins. Settings that the session depends on are always those of
    /// `SessionSettings`.
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
        // GSSAPI encryption would ask a Kerberos server, which has no deadline here.
        if merged["gssencmode"] == nil { merged["gssencmode"] = "disable" }
        // The server takes the last of two values, so the session's own come last.
        let options = SessionSettings.options.map { "-c \($0)=\($1)" }.joined(separator: " ")
        merged["options"] = merged["options"].map { "\($0) \(options)" } ?? options
        return merged.sorted { $0.key < $1.key }.map { (keyword: $0.key, value: $0.value) }
    }
}

/// The settings of all sessions.
struct SessionSettings: Sendable {
    /// The session's `application_name`.
    var applicationName: String
    /// Whether a standby is refused.
    var mustWrite = true

    /// The limits by which libpq and the kernel detect a dead connection, in seconds, a count, and milliseconds. They
    /// find a host that lost power and closed nothing.
    static let limits: [(keyword: String, limit: Int64)] = [
        ("connect_timeout", 5), ("keepalives_idle", 3), ("keepalives_interval", 1), ("keepalives_count", 3),
        ("tcp_user_timeout", 5000),
    ]

    /// The server's settings for a session, which override those of its files, of the database and of the role.
    static let options: [(name: String, value: String)] = [
        // A commit that has returned is on the disk, also on the standby's disk if there is one.
        ("synchronous_commit", "on"),
        // The server reports a cancelled wait for the standby only as a WARNING.
        ("client_min_messages", "warning"),
        ("default_transaction_isolation", "read\\ committed"),
        // Ends a late copy of an append long before its number may be deleted (ten minutes).
        ("statement_timeout", "5000"),
        // Limits how long the uncommitted batch of a dead session can block another session.
        ("lock_timeout", "700"),
        // Lets the server close the connection of a node that lost power.
        ("tcp_keepalives_idle", "3"), ("tcp_keepalives_interval", "1"), ("tcp_keepalives_count", "3"),
        ("tcp_user_timeout", "5000"),
    ]
}
