import Glibc
import LinuxSystem

/// The directory of `pushctl dev`: configuration, ledger, sockets and the gateway's authority. This object holds its
/// lock, so that no other run uses it.
final class DevDirectory {
    /// Its absolute path.
    let path: String
    /// Whether the directory is removed at the end.
    let isTemporary: Bool
    private let lock: FileDescriptor

    /// The default path.
    static let standard = ".pushrouter"

    /// `--config`
    var configuration: String { "\(path)/config" }
    /// `--state` of the daemon and the page.
    var state: String { "\(path)/state" }
    /// `--runtime`
    var runtime: String { "\(path)/run" }
    /// `--state` of the gateway.
    var gateway: String { "\(path)/gateway" }
    /// The socket on which the programs report readiness (`NOTIFY_SOCKET`).
    var notifySocket: String { "\(runtime)/notify.sock" }
    /// The daemon's socket for payloads.
    var injectSocket: String { "\(runtime)/inject.sock" }
    /// The daemon's socket for control requests.
    var controlSocket: String { "\(runtime)/control.sock" }
    /// The gateway's socket for the page's status requests.
    var gatewaySocket: String { "\(runtime)/gateway.sock" }
    private var firstPushMark: String { "\(path)/first-push" }

    /// Creates the directory, or takes that of an earlier run.
    ///
    /// - Parameter path: the path; `nil`: a new temporary directory, which is removed at the end.
    /// - Throws: the reason why it cannot be used, such as another run.
    init(_ path: String?) throws(Failure) {
        isTemporary = path == nil
        let made: String
        if let path { made = try Self.make(path) } else { made = try Self.makeTemporary() }
        lock = try Self.acquire(made, isNew: path == nil)
        self.path = made
    }

    // MARK: The first time

    /// Creates the files and directories that the programs need and that are missing.
    func fill() throws(Failure) {
        for directory in [runtime, gateway] { try Self.makeDirectory(directory) }
        guard !Directory.exists(configuration) else { return }
        // Written as a draft and renamed, so that the configuration is complete or missing.
        let draft = "\(configuration).new"
        Self.remove(draft)
        for directory in [draft, "\(draft)/handlers.d", "\(draft)/routes.d"] { try Self.makeDirectory(directory) }
        for (name, text) in DevConfiguration.files {
            try Self.writing { () throws(StartFailure) in
                try SmallFile.replace("\(draft)/\(name)", with: Array(text.utf8), mode: 0o644)
            }
        }
        guard rename(draft, configuration) == 0 else {
            throw Failure(.inputOutput, "cannot rename \(draft): \(errorText(errno))")
        }
    }

    /// Whether the first push was sent.
    var hasFirstPush: Bool { access(firstPushMark, F_OK) == 0 }

    /// Notes that the first push was sent.
    func noteFirstPush() throws(Failure) {
        try Self.writing { () throws(StartFailure) in
            try SmallFile.replace(firstPushMark, with: [], mode: 0o600)
        }
    }

    /// Removes the directory, if it is temporary.
    ///
    /// - Returns: `false` if it should have been removed and is still there.
    func end() -> Bool {
        guard isTemporary else { return true }
        Self.remove(path)
        return access(path, F_OK) != 0
    }

    // MARK: Steps

    private static func writing(_ step: () throws(StartFailure) -> Void) throws(Failure) {
        do throws(StartFailure) { try step() } catch {
            throw Failure(.inputOutput, error.lines.joined(separator: "\n"))
        }
    }

    private static func makeDirectory(_ path: String) throws(Failure) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST && Directory.exists(path) else {
            throw Failure(.inputOutput, "cannot create the directory \(path): \(errorText(errno))")
        }
    }

    private static func make(_ path: String) throws(Failure) -> String {
        try makeDirectory(path)
        guard let whole = realpath(path, nil) else { throw Failure(.noInput, "\(path): \(errorText(errno))") }
        defer { free(whole) }
        return String(cString: whole)
    }

    private static func makeTemporary() throws(Failure) -> String {
        let parent = Output.environment("TMPDIR") ?? "/tmp"
        var template = Array("\(parent)/pushrouter.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(.inputOutput, "cannot create a directory in \(parent): \(errorText(errno))")
        }
        return try make(String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// Checks and locks the directory. Removes a new one that cannot be used.
    private static func acquire(_ path: String, isNew: Bool) throws(Failure) -> FileDescriptor {
        do throws(Failure) {
            try check(path)
            return try lock(path)
        } catch {
            if isNew { rmdir(path) }
            throw error
        }
    }

    /// Checks that no other user can change the programs' files, and that the socket paths are short enough.
    private static func check(_ path: String) throws(Failure) {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { throw Failure(.inputOutput, "\(path): \(errorText(errno))") }
        guard facts.st_uid == geteuid() else {
            throw Failure(
                .noPermission,
                "\(path) belongs to user \(facts.st_uid), and this is user \(geteuid()): name another directory with "
                    + "--directory")
        }
        guard facts.st_mode & 0o022 == 0 else {
            throw Failure(
                .noPermission, "other users may write in \(path), and its handlers run as you: run chmod go-w on it")
        }
        // The longest socket path in the directory.
        let socket = "\(path)/run/control.sock"
        guard socket.utf8.count <= SocketPath.maximumLength else {
            throw Failure(
                .inputOutput,
                "the path of the socket \(socket) has \(socket.utf8.count) bytes, and Linux takes "
                    + "\(SocketPath.maximumLength): name a directory with a shorter path with --directory, or use "
                    + "--temporary")
        }
    }

    private static func lock(_ path: String) throws(Failure) -> FileDescriptor {
        let name = "\(path)/lock"
        guard let file = FileDescriptor(open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)) else {
            throw Failure(.inputOutput, "cannot open \(name): \(errorText(errno))")
        }
        guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK else {
                throw Failure(.inputOutput, "cannot lock \(name): \(errorText(errno))")
            }
            throw Failure(
                .unavailable,
                "another \"pushctl dev\" runs in \(path): end that run, or name another directory with --directory")
        }
        return file
    }

    /// Removes a tree without following symbolic links.
    private static func remove(_ path: String) {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return }
        guard facts.st_mode & S_IFMT == S_IFDIR, let stream = opendir(path) else {
            unlink(path)
            return
        }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        closedir(stream)
        for name in names { remove("\(path)/\(name)") }
        rmdir(path)
    }
}

/// The initial configuration of `pushctl dev`.
enum DevConfiguration {
    /// The files, by their names in the configuration directory.
    static let files: [(name: String, text: String)] = [
        (
            "pushrouterd.conf",
            """
            # "pushctl dev" made this file, and never changes it again. Edit the file, and send SIGHUP to the
            # daemon or start again. pushrouterd.conf(5) lists the settings.
            [Store]
            # Above this size the daemon deletes the oldest pushes.
            MaxSize=1G

            """
        ),
        (
            "gateway.conf",
            """
            # pushrouter-gateway(8) lists the settings.
            [Gateway]
            # A send to a token such as err-UNREGISTERED gets that error.
            ErrorTokens=yes

            """
        ),
        (
            "handlers.d/received.handler",
            """
            # Prints each push on standard error, which goes to the log. Put your own program into Exec=.
            [Handler]
            Type=exec
            Exec=/bin/sh -c 'echo "request $PUSH_SEQ: $PUSH_CALLBACK for $PUSH_APP on $PUSH_DEVICE" >&2'
            LogOutput=yes

            """
        ),
        (
            "routes.d/99-default.route",
            """
            # Matches every payload that no earlier route takes.
            [Match]

            [Route]
            Handler=received

            """
        ),
    ]
}

/// The first push.
enum DevFirstPush {
    /// The request, with its line feed. By its id, the daemon accepts it only once.
    static let line =
        #"{"op":"deliver","id":"pushctl-dev-first-push","platform":"android","app":"org.example.demo","#
        + #""device":"pixel","external_id":"anna","payload":{"_ab":"true","t":"Table is ready","#
        + #""a":"Your table for two is free now.","n":"42","p":"0","#
        + #""extra":"{\"meal\": \"Risotto\", \"side\": \"Salad\"}","cid":"first-campaign-1700000000000"}}"# + "\n"
}
