import PushModel
import PushRouter

/// The systemd units that run a handler's program once for each connection, with DynamicUser= and a sandbox of its own,
/// and the handler's file that connects to them.
struct HandlerUnits {
    /// One file.
    struct File {
        let name: String
        let text: String
    }

    /// How much later than the deadline systemd ends a run: its answer is too late by then.
    private static let margin = Duration.seconds(1)

    private let handler: Handler
    private let command: Handler.Command
    private let longest: Duration
    private let socketPath: String
    private let unit: String

    /// - Parameters:
    ///   - handler: the handler.
    ///   - command: the command of its program.
    ///   - longest: the longest deadline of a run.
    init(_ handler: Handler, _ command: Handler.Command, longest: Duration) {
        self.handler = handler
        self.command = command
        self.longest = longest
        unit = "pushrouter-\(Self.escaped(handler.name))"
        socketPath = handler.kind.socketPath ?? "/run/pushrouter-handlers/\(Self.escaped(handler.name)).sock"
    }

    /// The files: the socket, the service, and the handler's file.
    var files: [File] {
        [
            File(name: "\(unit).socket", text: socket),
            File(name: "\(unit)@.service", text: service),
            File(name: "\(handler.name).handler", text: handlerFile),
        ]
    }

    private var socket: String {
        """
        # The socket of the handler \(handler.name); made by pushctl handler-units.

        [Unit]
        Description=Socket of the push handler \(Self.specifierFree(handler.name))

        [Socket]
        ListenStream=\(Self.specifierFree(socketPath))
        # Only the daemon may connect.
        SocketUser=pushrouterd
        SocketMode=0600
        DirectoryMode=0755
        RemoveOnStop=yes
        # One run a connection; no number of them in a time closes the socket. A run may outlive its connection.
        Accept=yes
        MaxConnections=\(2 * instances)
        TriggerLimitIntervalSec=0

        [Install]
        WantedBy=sockets.target

        """
    }

    private var service: String {
        """
        # One run of the handler \(handler.name); made by pushctl handler-units.

        [Unit]
        Description=Run of the push handler \(Self.specifierFree(handler.name))
        CollectMode=inactive-or-failed
        StartLimitIntervalSec=0

        [Service]
        \(lines(program))
        StandardInput=socket
        StandardOutput=socket
        \(lines(standardError))
        # The daemon disconnects at the deadline; this ends the run.
        RuntimeMaxSec=\((longest + Self.margin).milliseconds)ms
        # From SIGTERM to SIGKILL, and for the command that writes the answer, if there is one.
        TimeoutStopSec=5s

        DynamicUser=yes
        \(lines(limits))
        UMask=0077
        NoNewPrivileges=yes
        CapabilityBoundingSet=
        ProtectSystem=strict
        ProtectHome=yes
        ProtectClock=yes
        ProtectControlGroups=yes
        ProtectHostname=yes
        ProtectKernelLogs=yes
        ProtectKernelModules=yes
        ProtectKernelTunables=yes
        ProtectProc=invisible
        ProcSubset=pid
        PrivateTmp=yes
        PrivateDevices=yes
        PrivateUsers=yes
        DevicePolicy=closed
        # A handler that needs the network: PrivateNetwork=no, IPAddressDeny= and AF_INET AF_INET6.
        PrivateNetwork=yes
        IPAddressDeny=any
        RestrictAddressFamilies=AF_UNIX
        RestrictNamespaces=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        LockPersonality=yes
        # A runtime that compiles as it goes (node, java) needs MemoryDenyWriteExecute=no.
        MemoryDenyWriteExecute=yes
        KeyringMode=private
        RemoveIPC=yes
        SystemCallArchitectures=native
        SystemCallErrorNumber=EPERM
        SystemCallFilter=@system-service
        SystemCallFilter=~@privileged @resources
        # Hides the daemon's files.
        InaccessiblePaths=-/var/lib/pushrouterd -/run/pushrouterd -/etc/pushrouterd

        """
    }

    private var program: [String] {
        var lines = ["ExecStart=" + command.arguments.map { Self.quoted($0) }.joined(separator: " ")]
        lines += [
            "# The exit status is the answer, with what the program wrote, unless that has a \"status\" of its own.",
            #"ExecStopPost=/bin/sh -c 's=rejected; case $$EXIT_CODE/$$EXIT_STATUS in exited/0) s=handled ;; \"#,
            #"  exited/75) s=retry ;; exited/80) s=declined ;; exited/*) r="exit status $$EXIT_STATUS" ;; \"#,
            #"  killed/*|dumped/*) r="ended by SIG$$EXIT_STATUS" ;; *) r="not started: $$SERVICE_RESULT" ;; esac; \"#,
            #"  echo "{\\"status\\":\\"$$s\\",\\"reason\\":\\"$$r\\"}" 2>/dev/null || :'"#,
        ]
        for (name, value) in command.environment.sorted(by: { $0.key < $1.key }) {
            lines.append("Environment=" + Self.quoted("\(name)=\(value)", isCommand: false))
        }
        if let directory = command.workingDirectory {
            lines.append("WorkingDirectory=" + Self.specifierFree(directory))
        }
        return lines
    }

    /// StandardError=: the program may write contents of payloads there.
    private var standardError: [String] {
        command.logsOutput
            ? ["StandardError=journal"]
            : [
                "# It may hold what payloads hold; journal instead of null writes it to the journal.",
                "StandardError=null",
            ]
    }

    private var limits: [String] {
        let limits = command.confinement
        let keys: [(String, Int?)] = [
            ("MemoryMax", limits.memoryMax), ("TasksMax", limits.tasksMax), ("CPUWeight", limits.processorWeight),
            ("LimitNOFILE", limits.openFilesMax), ("Nice", limits.niceness),
        ]
        return keys.compactMap { key, value in value.map { "\(key)=\($0)" } }
    }

    private var handlerFile: String {
        """
        # Instead of the file of the handler \(handler.name) as it was; made by pushctl handler-units.

        [Handler]
        Type=socket
        Connect=\(socketPath)
        OneInvocation=yes
        Instances=\(instances)
        Idempotent=\(handler.idempotent ? "yes" : "no")

        """
    }

    /// The most runs at the same time: each connection of a handler is an instance.
    private var instances: Int { min(handler.maxConcurrent ?? 64, 64) }

    private func lines(_ lines: [String]) -> String {
        lines.isEmpty ? "# No limits of its own." : lines.joined(separator: "\n")
    }

    // MARK: Words of units

    /// A word, quoted for systemd.
    ///
    /// - Parameter isCommand: whether systemd expands variables in it.
    private static func quoted(_ word: String, isCommand: Bool = true) -> String {
        let isPlain =
            !word.isEmpty && word.utf8.allSatisfy { "/._-=:,@+".utf8.contains($0) || $0.isASCIILetterOrDigit }
        if isPlain { return word }
        var text = ""
        for scalar in word.unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case "\n": text += "\\n"
            case "\t": text += "\\t"
            case "%": text += "%%"
            case "$" where isCommand: text += "$$"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return "\"\(text)\""
    }

    private static func specifierFree(_ text: String) -> String {
        text.unicodeScalars.map { $0 == "%" ? "%%" : String($0) }.joined()
    }

    /// A part of a unit's name, escaped like systemd-escape(1).
    private static func escaped(_ name: String) -> String {
        name.utf8.map { byte in
            let isPlain = byte.isASCIILetterOrDigit || "_.:-".utf8.contains(byte)
            let digits = String(byte, radix: 16)
            return isPlain ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + digits
        }.joined()
    }
}

extension UInt8 {
    fileprivate var isASCIILetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
