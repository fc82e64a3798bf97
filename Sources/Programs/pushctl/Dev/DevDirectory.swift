import Glibc
import LinuxSystem
import SettingsFiles
import UnixSockets

/// The directory that has all of `pushctl dev`: configuration, ledger, sockets and the gateway's authority. Nobody else
/// runs in it as long as this object is there.
final class DevDirectory {
    /// Its absolute path.
    let path: String
    /// Whether it goes at the end.
    let isTemporary: Bool
    private let lock: FileDescriptor

    /// Where it is unless something else is said.
    static let standard = ".pushrouter"

    /// `--config`
    var configuration: String { "\(path)/config" }
    /// `--state` of the daemon and the page.
    var state: String { "\(path)/state" }
    /// `--runtime`
    var runtime: String { "\(path)/run" }
    /// `--state` of the gateway.
    var gateway: String { "\(path)/gateway" }
    /// Where the programs say that they are ready.
    var notifySocket: String { "\(runtime)/notify.sock" }
    /// Where payloads go.
    var injectSocket: String { "\(runtime)/inject.sock" }
    /// Where people ask it for more.
    var controlSocket: String { "\(runtime)/control.sock" }
    /// Where the page asks the gateway for its state.
    var gatewaySocket: String { "\(runtime)/gateway.sock" }
    private var firstPushMark: String { "\(path)/first-push" }

    /// Makes the directory, or takes the one of an earlier run.
    ///
    /// - Parameter path: where it is; `nil`: a new one, which goes at the end.
    /// - Throws: why it cannot be used: another run may have it.
    init(_ path: String?) throws(Failure) {
        isTemporary = path == nil
        let made: String
        if let path { made = try Self.make(path) } else { made = try Self.makeTemporary() }
        lock = try Self.acquire(made, isNew: path == nil)
        self.path = made
    }

    // MARK: The first time

    /// Makes what the programs need and the directory lacks.
    func fill() throws(Failure) {
        for directory in [runtime, gateway] { try Self.makeDirectory(directory) }
        guard !Directory.exists(configuration) else { return }
        // A person finds all of it or nothing.
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

    /// Removes it, if it is to go.
    ///
    /// - Returns: whether it is gone, or may stay.
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

    /// Checks and locks the directory. A new one that cannot be used goes again.
    private static func acquire(_ path: String, isNew: Bool) throws(Failure) -> FileDescriptor {
        do throws(Failure) {
            try check(path)
            return try lock(path)
        } catch {
            if isNew { rmdir(path) }
            throw error
        }
    }

    /// Checks that nobody else can change what is started here, and that the sockets fit.
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
                .noPermission, "other users may write in \(path), and its handlers run as you: chmod go-w ends that")
        }
        // The longest name of a socket in it.
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
                "another \"pushctl dev\" runs in \(path): end that one, or name another directory with --directory")
        }
        return file
    }

    /// Removes a tree, and follows no links.
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

/// The configuration that `pushctl dev` begins with.
enum DevConfiguration {
    /// The files, by their names in the directory.
    static let files: [(name: String, text: String)] = [
        (
            "pushrouterd.conf",
            """
            # "pushctl dev" has made this file, and never writes it again: change what you like, and send SIGHUP to the
            # daemon or start again. pushrouterd.conf(5) says what there is.
            [Store]
            # The oldest pushes go beyond it.
            MaxSize=1G

            """
        ),
        (
            "gateway.conf",
            """
            # pushrouter-gateway(8) says what there is.
            [Gateway]
            # A send to a token such as err-UNREGISTERED gets that error.
            ErrorTokens=yes

            """
        ),
        (
            "handlers.d/received.handler",
            """
            # Says on standard error what came; the log has it. Put a program of your own in its place.
            [Handler]
            Type=exec
            Exec=/bin/sh -c 'echo "request $PUSH_SEQ: $PUSH_CALLBACK for $PUSH_APP on $PUSH_DEVICE" >&2'
            LogOutput=yes

            """
        ),
        (
            "routes.d/99-default.route",
            """
            # Whatever no route before it takes.
            [Match]

            [Route]
            Handler=received

            """
        ),
    ]
}

/// The push that is there from the beginning.
enum DevFirstPush {
    /// The request, with its line feed. The daemon takes it once, by its id.
    static let line =
        #"{"op":"deliver","id":"pushctl-dev-first-push","platform":"android","app":"org.example.demo","#
        + #""device":"pixel","external_id":"anna","payload":{"_ab":"true","t":"Table is ready","#
        + #""a":"Your table for two is free now.","n":"42","p":"0","#
        + #""extra":"{\"meal\": \"Risotto\", \"side\": \"Salad\"}","cid":"first-campaign-1700000000000"}}"# + "\n"
}
