import PushModel

extension Form<String> {
    /// An absolute path.
    public static let absolutePath = Form { text throws(ValueError) in
        guard text.utf8.first == UInt8(ascii: "/") else { throw ValueError("must be an absolute path") }
        return text
    }

    /// The absolute path of a file or directory that has a secret. Its key is declared with `showsValue: false`, because people write
    /// the secret itself there.
    public static let secretFile = Form { text throws(ValueError) in
        do { return try absolutePath.parse(text) } catch {
            throw ValueError("must be the absolute path of the place of the secret, never the secret itself")
        }
    }

    /// Returns whether a host is this machine by name or address: requests to it may go without TLS.
    ///
    /// - Parameter host: a host from ``hostAndPort(_:)``.
    public static func isLoopback(host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return ["localhost", "[::1]"].contains(host)
            || parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Parses the host, in lower case, and the port with its colon, if given.
    ///
    /// - Parameter authority: the text between `//` and the path.
    public static func hostAndPort(
        _ authority: ArraySlice<UInt8>
    ) throws(ValueError) -> (host: String, port: String) {
        var rest = authority
        let host: ArraySlice<UInt8>
        if rest.first == UInt8(ascii: "[") {
            host = rest.take { $0 != UInt8(ascii: "]") } + [UInt8(ascii: "]")]
            guard rest.popFirst() != nil, host.count > 4, host.dropFirst().dropLast().allSatisfy(\.isAddressByte) else {
                throw ValueError("must have an IPv6 address between [ and ]")
            }
        } else {
            host = rest.take { $0 != UInt8(ascii: ":") }
            guard !host.isEmpty, host.count <= 253, host.allSatisfy(\.isHostByte) else {
                throw ValueError("must have a host of letters, digits, and - . after ://")
            }
        }
        guard !rest.isEmpty else { return (host.text.lowercased(), "") }
        let digits = rest.dropFirst()
        guard rest.first == UInt8(ascii: ":"), !digits.isEmpty, digits.allSatisfy(\.isDigit),
            let port = Int(digits.text), (1...65_535).contains(port)
        else { throw ValueError("must have a port from 1 to 65535 after the host's colon") }
        return (host.text.lowercased(), ":\(port)")
    }
}

extension UInt8 {
    fileprivate var isHostByte: Bool {
        isLetter || isDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
    }

    /// A byte of an IPv6 address.
    fileprivate var isAddressByte: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20) || self == UInt8(ascii: ":")
            || self == UInt8(ascii: ".")
    }
}

extension Form<String> {
    /// A connection URI of PostgreSQL.
    public static let databaseURI = Form { text throws(ValueError) in
        guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") else {
            throw ValueError("must be a connection URI, such as postgresql://push@db.example/push")
        }
        return text
    }

    /// The name of a machine that shares a log.
    public static let nodeName = Form { text throws(ValueError) in
        let others = Array(".-_".utf8)
        guard 1...32 ~= text.utf8.count, text.utf8.allSatisfy({ $0.isLetter || $0.isDigit || others.contains($0) })
        else {
            throw ValueError("must be a name of at most 32 letters, digits, '.', '-' and '_'")
        }
        return text
    }
}
