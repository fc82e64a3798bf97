import Glibc
import LinuxSystem
import PushModel
import PushSettings
import PushViews

/// The directory of `pushctl dev`: configuration, ledger, sockets and the gateway's authority. This object holds its
/// lock, so that no other run uses it.
final class DevDirectory {
    /// Its absolute path.
    let path: String
    /// The directories in it.
    let directories: Directories
    /// Whether the directory is removed at the end.
    let isTemporary: Bool
    private let lock: FileDescriptor

    /// `--config`
    var configuration: String { directories.configuration[0] }
    /// The socket on which the programs report readiness (`NOTIFY_SOCKET`).
    var notifySocket: String { "\(directories.runtime)/notify.sock" }
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
        directories = Directories(development: made)
    }

    // MARK: The first time

    /// Creates the files and directories that the programs need and that are missing.
    func fill() throws(Failure) {
        for directory in [directories.runtime, directories.gateway] { try Self.makeDirectory(directory) }
        guard !Directory.exists(configuration) else { return }
        // Written as a draft and renamed, so that the configuration is complete or missing.
        let draft = "\(configuration).new"
        Self.remove(draft)
        let folders = ConfigurationFolder.allCases.map { "\(draft)/\($0.name)" }
        for directory in [draft] + folders { try Self.makeDirectory(directory) }
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

    /// Keeps the addresses for other commands until the end of the run.
    func keep(_ addresses: DevAddresses) throws(Failure) {
        try Self.writing { () throws(StartFailure) in
            try SmallFile.replace(DevAddresses.file(in: directories), with: addresses.json, mode: 0o600)
        }
    }

    /// Removes the addresses, and the directory if it is temporary.
    ///
    /// - Returns: `false` if the directory should have been removed and is still there.
    func end() -> Bool {
        unlink(DevAddresses.file(in: directories))
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
        if let obstacle = obstacle(path) { throw Failure(.noPermission, "\(path) \(obstacle)") }
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

    /// The reason why this user does not use a directory; `nil` if it is this user's alone.
    private static func obstacle(_ path: String) -> String? {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return "cannot be read: \(errorText(errno))" }
        guard facts.st_uid == geteuid() else {
            return "belongs to user \(facts.st_uid), and this is user \(geteuid()): name another directory"
        }
        guard facts.st_mode & 0o022 == 0 else {
            return "may be written by other users, and its handlers run as you: run chmod go-w on it"
        }
        return nil
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

// MARK: As other commands see it

extension DevDirectory {
    /// Finds the directory that commands use if nothing else is named: in the working directory, or the nearest above.
    ///
    /// - Parameter note: prints which directory is used, and which is not.
    static func nearest(_ note: (String) -> Void) -> String? {
        guard var above = workingDirectory else { return nil }
        var shown = "./"
        while true {
            let path = "\(above)/\(Directories.developmentName)"
            if Directory.exists("\(path)/config") {
                guard let problem = obstacle(path) else {
                    note("using \(shown)\(Directories.developmentName)")
                    return path
                }
                note("\(shown)\(Directories.developmentName) is not used: it \(problem)")
            }
            guard let slash = above.lastIndex(of: "/") else { return nil }
            above = String(above[..<slash])
            shown = shown == "./" ? "../" : "../\(shown)"
        }
    }

    /// The command that starts the daemon whose socket or ledger has this path; `nil` if it is no run of `pushctl dev`.
    static func start(of path: String) -> String? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let root = parts.dropLast(2).joined(separator: "/")
        guard Directory.exists("\(root)/config"), access("\(root)/lock", F_OK) == 0 else { return nil }
        return "pushctl dev" + (root == here ? "" : " --directory \(root.asShellWord)")
    }

    /// Whether commands in the working directory find this directory by themselves.
    var isHere: Bool { path == Self.here }

    /// The path of such a directory in the working directory.
    private static var here: String? { workingDirectory.map { "\($0)/\(Directories.developmentName)" } }

    /// The working directory; empty for the root.
    private static var workingDirectory: String? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        let text = String(cString: path)
        return text == "/" ? "" : text
    }
}

/// The initial configuration of `pushctl dev`.
enum DevConfiguration {
    /// The files, by their names in the configuration directory.
    static let files: [(name: String, text: String)] = [
        (
            "pushrouterd.conf",
            """
            # "pushctl dev" made this file, and never changes it again. While it runs, it reads a changed file at once.
            # pushrouterd.conf(5) lists the settings.
            [Store]
            # Above this size the daemon deletes the oldest pushes.
            MaxSize=1G

            [Journal]
            # The log has what handlers write to standard error, unless a handler has LogOutput=no.
            HandlerOutput=yes

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
        + #""device":"pixel","external_id":"anna","payload":{"_ab":"true","t":"An example of pushctl dev","#
        + #""a":"Your table for two is free now.","n":"42","p":"0","#
        + #""extra":"{\"meal\": \"Risotto\", \"side\": \"Salad\"}","cid":""#
        + CampaignReport.exampleCampaign + #""}}"# + "\n"
}
