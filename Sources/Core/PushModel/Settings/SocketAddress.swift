/// An address of `Listen=`: a numeric one with a port, or `unix:` and a path. The system decides whether it is numeric.
public enum SocketAddress: Hashable, Sendable, CustomStringConvertible {
    case tcp(String)
    case unix(String)

    /// - Throws: if the text is neither.
    public init(_ text: String) throws(ValueError) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst("unix:".count))
            guard path.hasPrefix("/") else { throw ValueError("must have an absolute path behind unix:") }
            self = .unix(path)
        } else {
            guard text.contains(":") else {
                throw ValueError("must be ADDRESS:PORT, such as 127.0.0.1:18443, or unix:/PATH")
            }
            self = .tcp(text)
        }
    }

    /// Whether the text is not a loopback address. The socket itself decides at the start.
    public var isOfOtherMachines: Bool {
        switch self {
        case .tcp(let text): !text.hasPrefix("127.") && !text.hasPrefix("[::1]:")
        case .unix: false
        }
    }

    public var description: String {
        switch self {
        case .tcp(let text): text
        case .unix(let path): "unix:\(path)"
        }
    }
}
