import PushModel

extension Form<String> {
    /// An `http` or `https` address. Messages never repeat it: its path or its query may contain a secret.
    static let webAddress = Form { text throws(ValueError) in
        var rest = Array(text.utf8)[...]
        let scheme = rest.take { $0 != UInt8(ascii: ":") }.text.lowercased()
        guard ["https", "http"].contains(scheme), rest.starts(with: "://".utf8) else {
            throw ValueError("must be an address that begins with https:// or http://")
        }
        rest = rest.dropFirst(3)
        guard !rest.contains(UInt8(ascii: "#")) else {
            throw ValueError("must have no fragment (# and the text behind it)")
        }
        guard rest.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw ValueError("must have visible ASCII characters only; write others as %XX")
        }
        let authority = rest.take { ![UInt8(ascii: "/"), UInt8(ascii: "?")].contains($0) }
        guard !authority.contains(UInt8(ascii: "@")) else {
            throw ValueError("must have no user and password; put a token into the file of BearerFile=")
        }
        let (host, port) = try hostAndPort(authority)
        return "\(scheme)://\(host)\(port)\(rest.first == UInt8(ascii: "/") ? "" : "/")\(rest.text)"
    }

    /// A file by its absolute path, or a systemd credential by its name.
    static let secretPlace = Form { text throws(ValueError) in
        if text.utf8.first == UInt8(ascii: "/") { return text }
        guard text.utf8.count <= 255, !text.hasPrefix("."), !text.hasPrefix("whsec_"),
            text.utf8.allSatisfy({ $0.isLetter || $0.isDigit || [0x2D, 0x2E, 0x5F].contains($0) })
        else {
            throw ValueError(
                "must be the absolute path of a file, or the name of a systemd credential, never the secret itself")
        }
        return text
    }
}

extension Form<[String]> {
    /// A header line; each line of the file adds one.
    static let header = Form { text throws(ValueError) in
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0]
        guard parts.count == 2, !name.isEmpty, name.utf8.allSatisfy(\.isTokenByte) else {
            throw ValueError("must be a header: Name: value")
        }
        let value = parts[1].utf8.drop { $0 == 0x20 || $0 == 0x09 }
        guard !value.isEmpty, value.allSatisfy({ 0x20...0x7E ~= $0 }) else {
            throw ValueError("must have a value of visible ASCII characters after \(name):")
        }
        let lower = name.lowercased()
        guard !reserved.contains(lower), !reservedPrefixes.contains(where: lower.hasPrefix) else {
            throw ValueError("\(name): this header is set by pushrouter-http itself")
        }
        return ["\(name): \(String(Substring(value)))"]
    }

    private static let reserved: Set<String> = [
        "host", "content-length", "content-type", "transfer-encoding", "connection", "expect", "te", "trailer",
        "upgrade",
    ]

    private static let reservedPrefixes = ["ce-", "webhook-", "push-"]
}

extension UInt8 {
    /// Whether it is a token character, as in a header's name (RFC 9110, 5.6.2).
    fileprivate var isTokenByte: Bool { isLetter || isDigit || Array("!#$%&'*+-.^_`|~".utf8).contains(self) }
}
