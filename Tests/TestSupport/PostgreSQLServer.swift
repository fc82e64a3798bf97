import Glibc
import Synchronization

/// A test's own PostgreSQL server, Debian's, on a Unix socket in its own directory. It runs as `postgres` if the tests
/// run as root, and ends with this object.
public final class PostgreSQLServer: Sendable {
    /// The way to end a server.
    public enum Stop: Int32, Sendable {
        /// A fast shutdown: SIGINT.
        case fast = 2
        /// An immediate shutdown, as after a crash: SIGQUIT.
        case immediate = 3
        /// SIGKILL to all of its processes.
        case kill = 9
    }

    private let directory = TemporaryDirectory()
    private let settings: [String]
    private let process = Mutex<pid_t>(0)

    /// The program directory of Debian's newest server; `nil` if none is installed.
    private static let programs: String? = {
        let root = "/usr/lib/postgresql"
        guard access(root, R_OK) == 0 else { return nil }
        let versions = TestSupport.names(in: root).filter { access("\(root)/\($0)/bin/initdb", X_OK) == 0 }
        return versions.max { (Int($0) ?? 0) < (Int($1) ?? 0) }.map { "\(root)/\($0)/bin" }
    }()

    /// Whether a server is installed.
    public static var isInstalled: Bool { programs != nil }

    /// The server's directory, which has the socket.
    public var root: String { directory.path }
    private var data: String { root + "/data" }

    /// Makes a server and starts it; traps on an error.
    ///
    /// - Parameters:
    ///   - isDurable: whether the server syncs, for tests that cut its power.
    ///   - settings: further settings, as `name=value`.
    public convenience init(isDurable: Bool = false, settings: [String] = []) {
        self.init(settings + (isDurable ? [] : ["fsync=off", "full_page_writes=off"]))
        let words = ["-D", data, "-A", "trust", "-U", "postgres", "--no-locale", "-E", "UTF8", "--no-sync"]
        let result = Program(path: "/usr/bin/env").run(Self.asPostgres("initdb", words))
        precondition(result.end == .exited(0), "initdb: \(result.errors)")
        start()
    }

    private init(_ settings: [String]) {
        self.settings =
            [
                "listen_addresses=", "unix_socket_directories=\(directory.path)", "shared_buffers=32MB",
                "max_connections=40", "wal_receiver_status_interval=1s", "wal_retrieve_retry_interval=100ms",
            ] + settings
        guard geteuid() == 0, let user = getpwnam("postgres") else { return }
        precondition(chown(directory.path, user.pointee.pw_uid, user.pointee.pw_gid) == 0, "chown: \(systemReason())")
    }

    deinit { stop(.immediate) }

    /// Returns the arguments of `env` that run a server program in the root directory, which every user may enter.
    private static func asPostgres(_ program: String, _ words: [String]) -> [String] {
        guard let programs else { preconditionFailure("PostgreSQL is not installed") }
        let user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        return ["--chdir=/"] + (geteuid() == 0 ? user : []) + ["\(programs)/\(program)"] + words
    }

    /// Starts the server and waits until it accepts connections; traps if it ends before.
    public func start() {
        let words = ["-D", data] + settings.flatMap { ["-c", $0] }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, root + "/log", O_WRONLY | O_CREAT | O_APPEND, 0o644)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // env and setpriv execute the server, so the process id stays the same.
        let started = startProgram(
            "/usr/bin/env", ["env"] + Self.asPostgres("postgres", words), environment: ["PATH=/usr/bin:/bin"],
            actions: &actions)
        process.withLock { $0 = started }
        while !isReady(started) {
            var status: Int32 = 0
            if waitpid(started, &status, WNOHANG) == started {
                preconditionFailure(
                    "the server ended: \(String(decoding: readFile(root + "/log") ?? [], as: UTF8.self).suffix(2000))")
            }
            usleep(10_000)
        }
    }

    /// Returns whether postmaster.pid says so: its first line has the process id, its eighth the state.
    private func isReady(_ process: pid_t) -> Bool {
        guard let file = readFile(data + "/postmaster.pid") else { return false }
        let lines = String(decoding: file, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.count > 7 && lines[0] == String(process) && lines[7].hasPrefix("ready")
    }

    /// Stops the server and waits until all of its processes are gone.
    public func stop(_ how: Stop) {
        let server = process.withLock { process in
            defer { process = 0 }
            return process
        }
        guard server > 0 else { return }
        let children = how == .kill ? Self.children(of: server) : []
        for process in [server] + children { Glibc.kill(process, how.rawValue) }
        var status: Int32 = 0
        while waitpid(server, &status, 0) < 0, errno == EINTR {}
        // init reaps these processes.
        for process in children { while Glibc.kill(process, 0) == 0 { usleep(1000) } }
    }

    private static func children(of process: pid_t) -> [pid_t] {
        let file = readFile("/proc/\(process)/task/\(process)/children") ?? []
        return String(decoding: file, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }
    }

    // MARK: What tests do with it

    /// Returns libpq's connection string for a database.
    public func address(_ database: String = "postgres") -> String {
        "host=\(root) port=5432 user=postgres dbname=\(database)"
    }

    /// Runs a statement with psql, without waiting for a standby at the commit; traps on an error.
    ///
    /// - Returns: the lines of the result, with `|` between columns.
    @discardableResult
    public func sql(_ statement: String, database: String = "postgres") -> [String] {
        guard let programs = Self.programs else { preconditionFailure("PostgreSQL is not installed") }
        let result = Program(path: "\(programs)/psql").run(
            ["-XAtq", "-d", address(database), "-c", statement],
            environment: ["PGOPTIONS": "-c synchronous_commit=local -c client_min_messages=error"])
        precondition(result.end == .exited(0), "\(statement): \(result.errors)")
        return result.lines
    }

    /// Repeats a statement until its result is this line; traps after ten seconds.
    public func wait(_ statement: String, database: String = "postgres", for line: String) {
        for _ in 0..<400 {
            if sql(statement, database: database) == [line] { return }
            usleep(5000)
        }
        preconditionFailure("\(statement) is not \(line): \(sql(statement, database: database))")
    }

    /// Changes a setting and reloads the configuration.
    public func set(_ name: String, _ value: String) {
        sql("ALTER SYSTEM SET \(name) = '\(value)'")
        sql("SELECT pg_reload_conf()")
    }

    /// Makes a standby of this server and starts it.
    ///
    /// - Parameter name: its name in `synchronous_standby_names`.
    public func makeStandby(_ name: String) -> PostgreSQLServer {
        let standby = PostgreSQLServer(
            settings.filter { !$0.hasPrefix("unix_socket_directories=") } + ["cluster_name=\(name)"])
        let words = [
            "-d", address() + " options='-c synchronous_commit=local'", "-D", standby.data, "-R", "-c", "fast",
        ]
        let result = Program(path: "/usr/bin/env").run(
            Self.asPostgres("pg_basebackup", words + ["-X", "stream", "--no-sync"]))
        precondition(result.end == .exited(0), "pg_basebackup: \(result.errors)")
        standby.start()
        return standby
    }
}
