import Glibc
import LinuxSystem

/// The port of this machine that a program of `pushctl dev` is to listen on.
enum DevPort: Hashable {
    /// This one and no other.
    case exactly(UInt16)
    /// The first that is free, from this one on.
    case from(UInt16)
    /// Any that is free.
    case any

    /// How many ports are tried behind the first.
    private static let further = 20

    /// Where the page is unless something else is said.
    static let ofPage = DevPort.from(18080)
    /// Where the gateway is unless something else is said.
    static let ofGateway = DevPort.from(18443)

    /// Reads an option; `nil`: the text is no port.
    init?(_ text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = UInt16(text)
        else { return nil }
        self = number == 0 ? .any : .exactly(number)
    }

    /// What is to be tried, in this order; 0 stands for any that is free.
    var candidates: [UInt16] {
        switch self {
        case .exactly(let port): [port]
        case .from(let port): (0...Self.further).map { port + UInt16($0) }
        case .any: Array(repeating: 0, count: Self.further)
        }
    }

    /// Whether another may be taken in its place.
    var isExact: Bool { if case .exactly = self { true } else { false } }

    /// What to say when none of them is free.
    ///
    /// - Parameter option: the name of the option that says another.
    func taken(_ option: Option) -> Failure {
        switch self {
        case .exactly(let port):
            Failure(.unavailable, "--\(option.name) \(port): another program has this port; 0 takes one that is free")
        case .from(let port):
            Failure(
                .unavailable,
                "other programs have the ports \(port) to \(port + UInt16(Self.further)): --\(option.name) 0 takes "
                    + "one that is free")
        case .any: Failure(.unavailable, "the system has no free port left")
        }
    }

    /// The port, if a program could listen on it now; `nil`: another one does. Of 0 it is one that is free.
    static func free(_ port: UInt16) throws(Failure) -> UInt16? {
        guard let socket = FileDescriptor(socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        else {
            throw Failure(.inputOutput, "cannot create a socket: \(errorText(errno))")
        }
        // As the programs do it: connections that have ended a moment ago are in nobody's way.
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
        case EACCES: throw Failure(.noPermission, "port \(port): only root may listen on it; take one above 1023")
        default: throw Failure(.inputOutput, "port \(port): \(errorText(result))")
        }
    }
}
