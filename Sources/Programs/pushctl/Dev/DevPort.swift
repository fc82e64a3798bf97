import Glibc
import LinuxSystem

/// The local port that a program of `pushctl dev` listens on.
enum DevPort: Hashable {
    /// This port only.
    case exactly(UInt16)
    /// The first free port from this one on.
    case from(UInt16)
    /// Any free port.
    case any

    /// How many ports are tried after the first.
    private static let further = 20

    /// The default of the page.
    static let ofPage = DevPort.from(18080)
    /// The default of the gateway.
    static let ofGateway = DevPort.from(18443)

    /// Parses an option's value; `nil` if the text is no port.
    init?(_ text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = UInt16(text)
        else { return nil }
        self = number == 0 ? .any : .exactly(number)
    }

    /// The ports to try, in this order; 0 means any free one.
    var candidates: [UInt16] {
        switch self {
        case .exactly(let port): [port]
        case .from(let port): (0...Self.further).map { port + UInt16($0) }
        case .any: Array(repeating: 0, count: Self.further)
        }
    }

    /// Whether only this port is allowed.
    var isExact: Bool { if case .exactly = self { true } else { false } }

    /// Checks that one of the ports is free.
    ///
    /// - Parameter option: the option that sets the port.
    func check(_ option: Option) throws(Failure) {
        for port in candidates { if try Self.free(port) != nil { return } }
        throw taken(option)
    }

    /// The failure when none of the ports is free.
    ///
    /// - Parameter option: the option that sets the port.
    func taken(_ option: Option) -> Failure {
        switch self {
        case .exactly(let port):
            Failure(.unavailable, "--\(option.name) \(port): another program uses this port; 0 takes a free port")
        case .from(let port):
            Failure(
                .unavailable,
                "other programs use the ports \(port) to \(port + UInt16(Self.further)): --\(option.name) 0 takes a "
                    + "free port"
            )
        case .any: Failure(.unavailable, "the system has no free port left")
        }
    }

    /// The port, if a program could listen on it now; `nil` if another program does. For 0 it is a free port.
    static func free(_ port: UInt16) throws(Failure) -> UInt16? {
        guard let socket = FileDescriptor(socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        else {
            throw Failure(.inputOutput, "cannot create a socket: \(errorText(errno))")
        }
        // SO_REUSEADDR as the programs set it: connections in TIME_WAIT do not block the port.
        var yes: Int32 = 1
        setsockopt(socket.rawValue, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let number = socket.rawValue
        let result = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Int32 in
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                let isFree = bind(number, address, length) == 0 && listen(number, 1) == 0
                return isFree && getsockname(number, address, &length) == 0 ? 0 : errno
            }
        }
        switch result {
        case 0: return UInt16(bigEndian: address.sin_port)
        case EADDRINUSE: return nil
        case EACCES:
            throw Failure(.noPermission, "port \(port): only root may listen on this port; use a port above 1023")
        default: throw Failure(.inputOutput, "port \(port): \(errorText(result))")
        }
    }
}
