import PushModel

extension Form<String> {
    /// The address of `/users/track`: `https://rest.fra-01.braze.eu`, with or without the path, which the value has.
    ///
    /// Messages never repeat the text: what is wrong with it may be that it has a password.
    static let endpoint = Form { text throws(ValueError) in
        var rest = Array(text.utf8)[...]
        let scheme = rest.take { $0 != UInt8(ascii: ":") }.text.lowercased()
        guard ["https", "http"].contains(scheme), rest.starts(with: "://".utf8) else {
            throw ValueError("must be an https address, such as https://rest.fra-01.braze.eu")
        }
        rest = rest.dropFirst(3)
        guard !rest.contains(UInt8(ascii: "@")) else {
            throw ValueError("must have no user and password; the API key is named by KeyFile=")
        }
        guard !rest.contains(UInt8(ascii: "?")), !rest.contains(UInt8(ascii: "#")) else {
            throw ValueError("must end with the path, without ? and #; the API key is named by KeyFile=")
        }
        let (host, port) = try hostAndPort(rest.take { $0 != UInt8(ascii: "/") })
        guard ["", "/", usersTrackPath, usersTrackPath + "/"].contains(rest.text) else {
            throw ValueError("must have no path but \(usersTrackPath)")
        }
        guard scheme == "https" || loopbackHosts.contains(host) else {
            throw ValueError("must begin with https://; only \(alternatives(loopbackHosts)) may be reached by http://")
        }
        return "\(scheme)://\(host)\(port)\(usersTrackPath)"
    }

    /// The host in lower case, and the port with its colon, if one is given.
    static func hostAndPort(
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

private let usersTrackPath = "/users/track"

/// What never leaves the machine, and so may go without TLS.
private let loopbackHosts = ["localhost", "127.0.0.1", "[::1]"]

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
