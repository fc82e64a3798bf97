import LinuxSystem
import PushSettings

/// The daemon's sockets: those of the service manager if it passes any, otherwise made in the runtime directory.
struct Sockets {
    /// The sockets. The raw values are the names that a socket unit gives them (`FileDescriptorName=`).
    enum Name: String {
        case inject, control, read
    }

    private let settings: DaemonSettings
    private let directories: Directories
    private let journal: JournalWriter
    private var inherited: [Name: Int32] = [:]

    /// Takes the sockets that the service manager passes. Closes one with another name, with a warning.
    init(settings: DaemonSettings, directories: Directories, journal: JournalWriter) throws {
        self.settings = settings
        self.directories = directories
        self.journal = journal
        for (name, descriptor) in InheritedSockets.take() {
            guard let socket = Name(rawValue: name), inherited[socket] == nil else {
                _ = FileDescriptor(owning: descriptor)
                let message =
                    "the service manager's socket \(name) is not used: FileDescriptorName= is inject, control or read"
                journal.log(JournalEntry(.warning, message))
                continue
            }
            inherited[socket] = descriptor
        }
    }

    /// Returns a listening socket.
    mutating func listener(_ name: Name) throws -> Listener {
        let refusal = LineServer.refusalWithoutDescriptor
        if let descriptor = inherited.removeValue(forKey: name) {
            let listener = try Listener(inherited: descriptor, refusal: refusal)
            let message = "\(name).sock is the service manager's socket \(listener.path), with its mode and group"
            journal.log(JournalEntry(.debug, message))
            return listener
        }
        switch name {
        case .inject: return try listener(directories.injectSocket, settings.injectSocket, refusal)
        case .control: return try listener(directories.controlSocket, settings.controlSocket, refusal)
        case .read: return try listener(directories.readSocket, settings.readSocket, refusal)
        }
    }

    private func listener(_ path: String, _ socket: SocketSettings, _ refusal: [UInt8]) throws -> Listener {
        let group = try groupID(of: socket)
        return try retrying(while: { $0 == ListenError.alreadyListening(path: path) }) { () throws(ListenError) in
            try Listener(path: path, mode: socket.mode, group: group, refusal: refusal)
        }
    }
}

/// All sockets of the daemon, listening.
struct Listeners {
    let control: Listener
    let read: Listener
    let inject: Listener

    /// Makes the sockets, or takes those of the service manager.
    init(_ sockets: inout Sockets) throws {
        // inject.sock is last: a client that sees it can already use the others.
        control = try sockets.listener(.control)
        read = try sockets.listener(.read)
        inject = try sockets.listener(.inject)
    }
}
