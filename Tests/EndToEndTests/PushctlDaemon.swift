import Glibc
import PushModel
import TestSupport

/// A daemon with directories of its own, ready when it is made, and what talks to it. It ends with the value.
final class TestDaemon {
    let directory: String
    private let home = TemporaryDirectory()
    private let program: RunningProgram

    /// The directories, as options of either program.
    var options: [String] {
        ["--config", directory + "/etc", "--state", directory + "/state", "--runtime", directory + "/run"]
    }

    /// - Parameters:
    ///   - configuration: texts of configuration files by their paths, beside the shipped route to the journal.
    init(configuration: [String: String] = [:]) {
        directory = home.path
        writeFile("[Route]\nHandler=journal\n", to: directory + "/etc/routes.d/99-default.route")
        writeFile("[Handler]\nType=journal\n", to: directory + "/etc/handlers.d/journal.handler")
        for (path, text) in configuration { writeFile(text, to: "\(directory)/etc/\(path)") }
        mkdir(directory + "/run", 0o755)
        let notifications = NotifySocket(path: directory + "/notify")
        program = Program(product: "pushrouterd").start(
            ["--config", directory + "/etc", "--state", directory + "/state", "--runtime", directory + "/run"],
            environment: ["NOTIFY_SOCKET": directory + "/notify"], log: directory + "/log")
        notifications.waitUntilReady()
    }

    /// Runs pushctl against it.
    func pushctl(_ arguments: String..., input: String = "") -> Program.Result {
        EndToEndTests.pushctl.run(options + arguments, input: Array(input.utf8))
    }

    /// Ends it as a service manager does.
    func stop() -> Program.End {
        program.send(SIGTERM)
        return program.wait()
    }
}

/// What a service manager listens on (sd_notify(3)).
private struct NotifySocket: ~Copyable {
    private let descriptor: Int32

    init(path: String) {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        precondition(bound == 0, "bind \(path): \(String(cString: strerror(errno)))")
    }

    deinit { close(descriptor) }

    /// Waits for `READY=1`; traps when it does not come, since no test can go on without.
    func waitUntilReady() {
        var message = [UInt8](repeating: 0, count: 4096)
        while true {
            var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            precondition(poll(&wanted, 1, 30_000) > 0, "the daemon did not get ready")
            let count = recv(descriptor, &message, message.count, 0)
            let text = String(decoding: message.prefix(max(count, 0)), as: UTF8.self)
            if text.split(separator: "\n").contains("READY=1") { return }
        }
    }
}
