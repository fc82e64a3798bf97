import PushModel

extension Form<String> {
    /// The address of `/users/track`: `https://rest.fra-01.braze.eu`, with or without the path; the value has it.
    ///
    /// Messages never repeat the text, because it may contain a password.
    static let endpoint = Form { text throws(ValueError) in
        var rest = Array(text.utf8)[...]
        let scheme = rest.take { $0 != UInt8(ascii: ":") }.text.lowercased()
        guard ["https", "http"].contains(scheme), rest.starts(with: "://".utf8) else {
            throw ValueError("must be an https address, such as https://rest.fra-01.braze.eu")
        }
        rest = rest.dropFirst(3)
        guard !rest.contains(UInt8(ascii: "@")) else {
            throw ValueError("must have no user and password; put the API key into the file of KeyFile=")
        }
        guard !rest.contains(UInt8(ascii: "?")), !rest.contains(UInt8(ascii: "#")) else {
            throw ValueError("must end with the path, without ? and #; put the API key into the file of KeyFile=")
        }
        let (host, port) = try hostAndPort(rest.take { $0 != UInt8(ascii: "/") })
        guard ["", "/", usersTrackPath, usersTrackPath + "/"].contains(rest.text) else {
            throw ValueError("must have no path but \(usersTrackPath)")
        }
        guard scheme == "https" || isLoopback(host: host) else {
            throw ValueError("must begin with https://; only localhost, 127.0.0.0/8 or [::1] may be reached by http://")
        }
        return "\(scheme)://\(host)\(port)\(usersTrackPath)"
    }
}

private let usersTrackPath = "/users/track"
