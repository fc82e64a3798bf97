import Glibc
import Testing

@testable import LinuxSystem

@Suite("Listener", .timeLimit(.minutes(30)))
struct ListenerTests {
    let directory = TemporaryDirectory()
    var path: String { directory.path + "/inject.sock" }

    @Test("listens with the given mode and group, whatever the umask")
    func hasItsMode() throws {
        let listener = try Listener(path: path, mode: 0o660, group: getgid())
        var status = stat()
        #expect(lstat(path, &status) == 0)
        #expect(status.st_mode == S_IFSOCK | 0o660)
        #expect(status.st_gid == getgid())
        #expect(directory.entries() == ["inject.sock"])
        withExtendedLifetime(listener) {}
    }

    @Test("accepts clients with their credentials, until none waits")
    func acceptsClients() throws {
        let listener = try Listener(path: path, mode: 0o600)
        guard case .wouldBlock = listener.accept() else { throw Unexpected() }
        let client = try Client(path: path)
        guard case .connection(let connection) = listener.accept() else { throw Unexpected() }
        #expect(connection.peer.processID == getpid())
        #expect(connection.peer.userID == getuid())
        #expect(connection.peer.groupID == getgid())
        #expect(fcntl((try connection.descriptor.rawValue), F_GETFL) & O_NONBLOCK != 0)
        for descriptor in [listener.descriptor.rawValue, (try connection.descriptor.rawValue), client.descriptor] {
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        }
        guard case .wouldBlock = listener.accept() else { throw Unexpected() }
    }

    @Test("removes its path when it closes")
    func removesItsPath() throws {
        _ = try Listener(path: path, mode: 0o600)
        #expect(directory.entries().isEmpty)
    }

    @Test("leaves another socket at its path alone")
    func leavesASuccessorAlone() throws {
        var first: Listener? = try Listener(path: path, mode: 0o600)
        unlink(path)
        let second = try Listener(path: path, mode: 0o600)
        withExtendedLifetime(first) {}
        first = nil
        #expect(directory.entries() == ["inject.sock"])
        _ = try Client(path: path)
        withExtendedLifetime(second) {}
    }

    @Test("replaces a socket without a listener, and the half-made one of an earlier start")
    func replacesAStaleSocket() throws {
        for leftover in [path, SocketBinding.temporaryName(for: path)] { makeDeadSocket(at: leftover) }
        let listener = try Listener(path: path, mode: 0o600)
        _ = try Client(path: path)
        #expect(directory.entries() == ["inject.sock"])
        withExtendedLifetime(listener) {}
    }

    @Test("refuses a socket with a listener, and leaves it working")
    func refusesALiveSocket() throws {
        let listener = try Listener(path: path, mode: 0o600)
        let error = #expect(throws: ListenError.self) { _ = try Listener(path: path, mode: 0o600) }
        #expect(
            error?.description
                == "another process is listening on \(path): stop it, or use another directory")
        _ = try Client(path: path)
        withExtendedLifetime(listener) {}
    }

    // A full backlog makes connect(2) fail with EAGAIN, which does not mean a dead socket.
    @Test("treats a listener with a full backlog as alive")
    func refusesABusySocket() throws {
        let busy = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(busy) }
        #expect(SocketPath.withAddress(of: path) { bind(busy, $0, $1) } == 0)
        #expect(listen(busy, 0) == 0)
        let waiting = try Client(path: path)
        #expect(throws: ListenError.alreadyListening(path: path)) { _ = try Listener(path: path, mode: 0o600) }
        withExtendedLifetime(waiting) {}
    }

    @Test("refuses a file that is not a socket, and a link, and leaves them alone")
    func refusesOtherFiles() throws {
        close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
        let error = #expect(throws: ListenError.self) { _ = try Listener(path: path, mode: 0o600) }
        #expect(error?.description == "\(path) exists and is not a socket: move it away")
        let link = directory.path + "/link.sock"
        #expect(symlink("nowhere", link) == 0)
        #expect(throws: ListenError.notASocket(path: link)) { _ = try Listener(path: link, mode: 0o600) }
        #expect(directory.entries() == ["inject.sock", "link.sock"])
    }

    @Test("reports the limit of a path's length")
    func refusesLongPaths() throws {
        let fitting = directory.path + "/" + String(repeating: "x", count: 107 - directory.path.utf8.count - 1)
        _ = try Listener(path: fitting, mode: 0o600)
        let error = #expect(throws: ListenError.self) { _ = try Listener(path: fitting + "x", mode: 0o600) }
        #expect(
            error?.description
                == "the socket path \(fitting)x has 108 bytes; Linux takes 1 to 107: use a shorter directory")
        #expect(throws: ListenError.pathTooLong(path: "")) { _ = try Listener(path: "", mode: 0o600) }
    }

    @Test("a listener in a missing directory names the directory")
    func refusesMissingDirectories() {
        let error = #expect(throws: ListenError.self) {
            _ = try Listener(path: directory.path + "/none/a.sock", mode: 0o600)
        }
        #expect(
            error?.description
                == "cannot open \(directory.path)/none/.sockets.lock: No such file or directory (errno 2)")
    }

    @Test("leaves no file when a step fails")
    func cleansUp() async {
        await #expect(processExitsWith: .success) {
            asOrdinaryUser { directory in
                let path = directory.path + "/a.sock"
                // A user may not give a file to a foreign group.
                do throws(ListenError) {
                    _ = try Listener(path: path, mode: 0o600, group: 0)
                    fatalError("gave the socket away")
                } catch {
                    guard error == .system(operation: "set the group (0) of", path: path, errno: EPERM) else {
                        fatalError("\(error)")
                    }
                }
                guard directory.entries().isEmpty else { fatalError("\(directory.entries())") }
            }
        }
    }

    @Test("adopts a listening socket, and leaves its path when it closes")
    func inherited() throws {
        let manager = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(manager) }
        #expect(SocketPath.withAddress(of: path) { bind(manager, $0, $1) } == 0 && listen(manager, 8) == 0)
        do {
            let listener = try Listener(inherited: dup(manager))
            #expect(listener.path == path)
            let client = try Client(path: path)
            guard case .connection = listener.accept() else { throw Unexpected() }
            guard case .wouldBlock = listener.accept() else { throw Unexpected() }
            withExtendedLifetime(client) {}
        }
        #expect(directory.entries() == ["inject.sock"])
    }

    @Test("a listener adopts no descriptor but a listening Unix socket")
    func inheritedSomethingElse() {
        let file = open("/dev/null", O_RDONLY)
        #expect(throws: ListenError.notListening(descriptor: file)) { try Listener(inherited: file) }
        let idle = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #expect(throws: ListenError.notListening(descriptor: idle)) { try Listener(inherited: idle) }
    }

    // Without the reserve descriptor the listener would stay readable, accept(2) fail each time, and the loop spin.
    @Test("turns a client away with an error line when no descriptor is left")
    func turnsClientsAway() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let path = directory.path + "/inject.sock"
            let listener = try Listener(path: path, mode: 0o600, refusal: Array("overloaded\n".utf8))
            let client = try Client(path: path)
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var filler: [Int32] = []
            while case let descriptor = dup(listener.descriptor.rawValue), descriptor >= 0 { filler.append(descriptor) }

            guard case .refused(EMFILE) = listener.accept() else { fatalError("not refused") }
            guard case .wouldBlock = listener.accept() else { fatalError("still waiting") }
            guard try client.receiveLine() == Array("overloaded".utf8) else { fatalError("not told") }
            guard try client.receiveLine() == nil else { fatalError("not closed") }
            // The next client with a free descriptor is accepted.
            for descriptor in filler { close(descriptor) }
            let next = try Client(path: path)
            guard case .connection = listener.accept() else { fatalError("not accepted") }
            withExtendedLifetime(next) {}
        }
    }
}

struct Unexpected: Error {}

/// Makes the socket file that a killed daemon leaves.
private func makeDeadSocket(at path: String) {
    let dead = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    precondition(SocketPath.withAddress(of: path) { bind(dead, $0, $1) } == 0)
    close(dead)
}
