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
        /// The default address, used if neither the command line nor the configuration has one.
        public var standard: String
        /// Why it must not listen on addresses that other machines reach; `nil` if it may.
        public var reasonAgainstOtherMachines: String?

        /// Joins the parts.
        public init(program: String, listen: [SocketAddress], standard: String, reasonAgainstOtherMachines: String?) {
            (self.program, self.listen, self.standard) = (program, listen, standard)
            self.reasonAgainstOtherMachines = reasonAgainstOtherMachines
        }
    }

    /// The descriptors for a loop's sources, in the order of `names`.
    public private(set) var descriptors: [SharedDescriptor] = []
    /// The names of the sockets, for people.
    public private(set) var names: [String] = []
    /// The ports of the TCP sockets.
    public private(set) var ports: [UInt16] = []
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
    public init(_ given: String?, _ rules: Rules) throws {
        self.rules = rules
        let inherited = InheritedSockets.take()
        guard inherited.isEmpty || given == nil else {
            throw usageFailure("the service manager gave a socket: remove --listen, or the socket unit")
        }
        for socket in inherited { try addInherited(socket.descriptor) }
        guard inherited.isEmpty else { return }
        var addresses = rules.listen
        do throws(ValueError) {
            if let given {
                addresses = []
                for text in given.split(separator: ",") { addresses.append(try SocketAddress(String(text))) }
            }
            if addresses.isEmpty { addresses = [try SocketAddress(rules.standard)] }
        } catch {
            throw usageFailure("--listen \(error.reason)")
        }
        for address in addresses { try add(address) }
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
            names.append("port \(socket.port)")
            add(socket)
        } catch let failure as StartFailure {
            throw failure
        } catch {
            throw StartFailure("\(error)", exitStatus: StartFailure.cannotCreate)
        }
    }

    private func add(_ socket: consuming ListeningSocket) {
        ports.append(socket.port)
        descriptors.append(SharedDescriptor(FileDescriptor(owning: socket.release())))
    }

    private func add(_ address: SocketAddress) throws {
        switch address {
        case .unix(let path):
            do {
                let listener = try Listener(path: path, mode: 0o666)
                descriptors.append(listener.descriptor)
                listeners.append(listener)
            } catch {
                throw StartFailure("\(error)", exitStatus: StartFailure.cannotCreate)
            }
        case .tcp(let text):
            guard let place = ListenAddress(text) else {
                throw StartFailure(
                    "Listen= and --listen take a numeric address and a port, such as "
                        + "\(rules.standard) or [::1]:18443, not \(text)",
                    exitStatus: StartFailure.configuration)
            }
            areOfOtherMachines = areOfOtherMachines || !place.isLoopback
            if !place.isLoopback, let reason = rules.reasonAgainstOtherMachines {
                throw StartFailure("\(text): \(reason)", exitStatus: StartFailure.permission)
            }
            do {
                add(try ListeningSocket(place))
            } catch {
                throw StartFailure("\(error)", exitStatus: StartFailure.cannotCreate)
            }
        }
        names.append("\(address)")
    }
}
