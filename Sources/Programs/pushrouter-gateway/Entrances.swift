import EventLoop
import Glibc
import HTTPServer
import LinuxSystem
import PushGateway
import PushHosts
import ServiceProgram
import SettingsFiles
import SettingsSyntax
import UnixSockets

/// The sockets that clients connect to.
final class Entrances {
    private(set) var descriptors: [SharedDescriptor] = []
    /// What they are called, for people.
    private(set) var names: [String] = []
    /// Whether other machines reach one of them.
    private(set) var areOfOtherMachines = false
    /// Those made here; their paths go with them.
    private var listeners: [Listener] = []

    /// - Parameters:
    ///   - given: the address of `--listen`.
    ///   - settings: the configuration.
    /// - Throws: `StartFailure`.
    init(_ given: String?, _ settings: GatewaySettings) throws {
        let inherited = InheritedSockets.take()
        guard inherited.isEmpty || given == nil else {
            throw Program.service.usageFailure(
                "the service manager gave a socket: leave --listen out, or the socket unit")
        }
        for socket in inherited { try addInherited(socket.descriptor, settings) }
        guard inherited.isEmpty else { return }
        var addresses = settings.listen
        do throws(ValueError) {
            if let given { addresses = [try GatewayAddress(given)] }
            if addresses.isEmpty { addresses = [try GatewayAddress(GatewaySettings.standardAddress)] }
        } catch {
            throw Program.service.usageFailure("--listen \(error.reason)")
        }
        for address in addresses { try add(address, settings) }
    }

    private func addInherited(_ descriptor: Int32, _ settings: GatewaySettings) throws {
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
            if !socket.isLoopback, let reason = settings.reasonAgainstOtherMachines {
                throw StartFailure("port \(socket.port): \(reason)", exitStatus: StartFailure.permission)
            }
            names.append("port \(socket.port)")
            descriptors.append(SharedDescriptor(FileDescriptor(owning: socket.release())))
        } catch let failure as StartFailure {
            throw failure
        } catch {
            throw StartFailure("\(error)", exitStatus: StartFailure.cannotCreate)
        }
    }

    private func add(_ address: GatewayAddress, _ settings: GatewaySettings) throws {
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
                        + "\(GatewaySettings.standardAddress) or [::1]:18443, not \(text)",
                    exitStatus: StartFailure.configuration)
            }
            areOfOtherMachines = areOfOtherMachines || !place.isLoopback
            if !place.isLoopback, let reason = settings.reasonAgainstOtherMachines {
                throw StartFailure("\(text): \(reason)", exitStatus: StartFailure.permission)
            }
            do {
                let socket = try ListeningSocket(place)
                descriptors.append(SharedDescriptor(FileDescriptor(owning: socket.release())))
            } catch {
                throw StartFailure("\(error)", exitStatus: StartFailure.cannotCreate)
            }
        }
        names.append("\(address)")
    }
}
