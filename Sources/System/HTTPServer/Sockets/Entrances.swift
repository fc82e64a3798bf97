import CLinux
import Glibc
public import LinuxSystem
public import PushModel

/// The listening sockets of a service.
public final class Entrances {
    /// The rules for a service's addresses.
    public struct Rules {
        /// The program's name, for messages.
        public var program: String
        /// The addresses of `Listen=`.
        public var listen: [SocketAddress]
        /// The default address, used if neither the command line nor the configuration has one; `nil`: none.
        public var standard: String?
        /// Why it must not listen on addresses that other machines reach; `nil` if it may.
        public var reasonAgainstOtherMachines: String?

        /// Joins the parts.
        public init(
            program: String, listen: [SocketAddress] = [], standard: String?,
            reasonAgainstOtherMachines: String? = nil
        ) {
            (self.program, self.listen, self.standard) = (program, listen, standard)
            self.reasonAgainstOtherMachines = reasonAgainstOtherMachines
        }
    }

    /// The descriptors for a loop's sources, in the order of `names`.
    public private(set) var descriptors: [SharedDescriptor] = []
    /// The names of the sockets, for people, each with the port that it has.
    public private(set) var names: [String] = []
    /// Whether other machines can reach one of them.
    public private(set) var areOfOtherMachines = false
    /// The Unix listeners created here, whose paths are removed with them.
    private var listeners: [Listener] = []
    private let rules: Rules

    /// Takes the sockets from the service manager; listens on its own if there are none.
    ///
    /// - Parameters:
    ///   - given: the addresses of `--listen`, separated by commas.
    ///   - rules: the configuration.
    /// - Throws: `StartFailure`.
    public convenience init(_ given: String?, _ rules: Rules) throws {
        try self.init(given, rules, inherited: InheritedSockets.take().map(\.descriptor))
    }

    /// - Parameter inherited: the listening sockets of the service manager, which this object owns.
    init(_ given: String?, _ rules: Rules, inherited: [Int32]) throws {
        self.rules = rules
        guard inherited.isEmpty || given == nil else {
            throw usageFailure("the service manager gave a socket: remove --listen, or the socket unit")
        }
        for socket in inherited { try addInherited(socket) }
        guard inherited.isEmpty else { return }
        var addresses = rules.listen
        do throws(ValueError) {
            if let given {
                addresses = []
                for text in given.split(separator: ",") { addresses.append(try SocketAddress(String(text))) }
            }
            if addresses.isEmpty, let standard = rules.standard { addresses = [try SocketAddress(standard)] }
        } catch {
            throw usageFailure("--listen \(error.reason)")
        }
        for address in addresses { try add(address, isGiven: given != nil) }
    }

    private func usageFailure(_ message: String) -> StartFailure {
        StartFailure(lines: [message, "see \(rules.program) --help"], exitStatus: StartFailure.usage)
    }

    private func addInherited(_ descriptor: Int32) throws {
        var domain: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length)
        do {
            guard domain != AF_UNIX else {
                let listener = try Listener(inherited: descriptor)
                names.append("unix:\(listener.path)")
                descriptors.append(listener.descriptor)
                return
            }
            let socket = try ListeningSocket(inherited: descriptor)
            areOfOtherMachines = areOfOtherMachines || !socket.isLoopback
            if !socket.isLoopback, let reason = rules.reasonAgainstOtherMachines {
                throw StartFailure("port \(socket.port): \(reason)", exitStatus: StartFailure.permission)
            }
            let port = socket.port
            add(socket, "port \(port)")
        } catch let failure as StartFailure {
            throw failure
        } catch {
            throw StartFailure("\(error)", exitStatus: StartFailure.cannotCreate)
        }
    }

    private func add(_ socket: consuming ListeningSocket, _ name: String) {
        names.append(name)
        descriptors.append(SharedDescriptor(FileDescriptor(owning: socket.release())))
    }

    /// - Parameter isGiven: whether the command line has it.
    private func add(_ address: SocketAddress, isGiven: Bool) throws {
        switch address {
        case .unix(let path):
            do {
                let listener = try Listener(path: path, mode: 0o666)
                descriptors.append(listener.descriptor)
                listeners.append(listener)
                names.append("\(address)")
            } catch {
                throw StartFailure("\(error)", exitStatus: StartFailure.cannotCreate)
            }
        case .tcp(let text):
            guard let place = ListenAddress(text) else {
                throw StartFailure(
                    "Listen= and --listen take a numeric address and a port, such as 127.0.0.1:8443 or [::1]:8443, "
                        + "not \(text)",
                    exitStatus: isGiven ? StartFailure.usage : StartFailure.configuration)
            }
            areOfOtherMachines = areOfOtherMachines || !place.isLoopback
            if !place.isLoopback, let reason = rules.reasonAgainstOtherMachines {
                throw StartFailure("\(text): \(reason)", exitStatus: StartFailure.permission)
            }
            do {
                let socket = try ListeningSocket(place)
                let port = socket.port
                add(socket, "\(text[..<(text.lastIndex(of: ":") ?? text.endIndex)]):\(port)")
            } catch {
                throw StartFailure("\(error)", exitStatus: StartFailure.cannotCreate)
            }
        }
    }
}

/// A listening socket, TCP or Unix, that accepts connections.
public final class Acceptor {
    /// The result of one call.
    public enum Accepted {
        case connection(SharedDescriptor, ClientPeer)
        /// No client is waiting.
        case none
        /// No descriptor or memory is left; the waiting client was disconnected if possible.
        case refused
    }

    /// The descriptor for a loop's source.
    public let descriptor: SharedDescriptor
    /// A spare descriptor, freed to accept and close a client when there is no other left.
    private var reserve: SharedDescriptor?

    /// - Parameter descriptor: a nonblocking, listening socket.
    public init(_ descriptor: SharedDescriptor) {
        self.descriptor = descriptor
        reserve = Self.openReserve()
    }

    /// Accepts the next waiting client.
    public func accept() -> Accepted {
        while true {
            if let socket = SharedDescriptor(CLinux_accept4(descriptor.rawValue)) {
                return .connection(socket, Self.peer(of: socket.rawValue))
            }
            switch errno {
            case EAGAIN: return .none
            case EMFILE, ENFILE:
                reserve = nil
                // The client is closed at once.
                _ = SharedDescriptor(CLinux_accept4(descriptor.rawValue))
                reserve = Self.openReserve()
                return .refused
            case EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH: continue
            default: return .refused
            }
        }
    }

    private static func openReserve() -> SharedDescriptor? {
        SharedDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC))
    }

    private static func peer(of socket: Int32) -> ClientPeer {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket, $0, &length) }
        }
        guard result == 0 else { return .address("unknown") }
        switch Int32(storage.ss_family) {
        case AF_INET:
            return withUnsafeBytes(of: &storage) { address($0[4..<8].map(\.self)) }
        case AF_INET6:
            return withUnsafeBytes(of: &storage) { address($0[8..<24].map(\.self)) }
        default:
            var process: Int32 = 0
            var user: UInt32 = 0
            var group: UInt32 = 0
            guard CLinux_peer_credentials(socket, &process, &user, &group) == 0 else { return .address("unknown") }
            return .user(user)
        }
    }

    /// Returns the peer of an address of 4 or 16 bytes.
    public static func address(_ bytes: [UInt8]) -> ClientPeer {
        // An IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2) counts as the IPv4 address.
        if bytes.count == 16, bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
            return address(Array(bytes[12...]))
        }
        if bytes.count == 4 {
            let text = bytes.map { String($0) }.joined(separator: ".")
            return bytes[0] == 127 ? .loopback(text) : .address(text)
        }
        if bytes == [UInt8](repeating: 0, count: 15) + [1] { return .loopback("::1") }
        let groups = stride(from: 0, to: 8, by: 2).map { place in
            String(UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1]), radix: 16)
        }
        return .address(groups.joined(separator: ":") + "::/64")
    }
}

/// The peer of a connection.
public enum ClientPeer: Hashable, Sendable, CustomStringConvertible {
    /// A user on a Unix socket.
    case user(UInt32)
    /// An address; for IPv6 its first 64 bits, the network of one customer.
    case address(String)
    /// This machine over TCP.
    case loopback(String)

    public var description: String {
        switch self {
        case .user(let id): "uid \(id)"
        case .address(let text), .loopback(let text): text
        }
    }

    /// Whether it may request a tunnel to a push service.
    public var isLocal: Bool {
        switch self {
        case .user, .loopback: true
        case .address: false
        }
    }
}
