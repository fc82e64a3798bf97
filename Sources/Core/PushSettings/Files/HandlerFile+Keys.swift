import PushModel
import PushRouter

extension Schema<HandlerDraft> {
    /// `handlers.d/*.handler`.
    static let handler = Schema(keys: ownKeys + installedBridges.flatMap { $0.handlerKeys } + sharedKeys)
}

extension BridgeSettings {
    /// The bridge's keys in the file of a handler.
    fileprivate static var handlerKeys: [Key<HandlerDraft>] {
        keys.map { key in
            key.within(
                { draft, fillIn in
                    var settings = draft.bridges[name] as? Self ?? Self()
                    fillIn(&settings)
                    draft.bridges[name] = settings
                }, for: [.bridge(name)])
        }
    }
}

extension [HandlerDraft.Kind] {
    /// The kinds that do more than write an entry in the journal.
    fileprivate static var working: Self { [.exec, .worker, .socket] + Element.bridges + [.notify] }
}

/// Texts for people: the bridges with their purposes, and the kinds whose handlers have several requests at once.
private let (purposes, listed): (String, String) = {
    let names = installedBridges.map { "`\($0.name)`" }
    let sentences = zip(names, installedBridges).map { "\($0) \($1.purpose). " }
    return (sentences.joined(), (["`notify`"] + names).joined(separator: " and "))
}()

extension Schema<HandlerDraft> {
    /// The keys for the kind of handler; the keys of bridges follow them.
    private static let ownKeys: [Key<HandlerDraft>] = [
        Key(
            "Handler", "Type", { $1(&$0.kind) }, Form.choice.optional,
            meaning: """
                `exec` runs a program for each callback. `worker` runs a program that stays, and gets and answers \
                callbacks by lines. `socket` sends the same lines to the Unix socket of another service. \
                \(purposes)pushrouterd(8) explains these under HANDLERS. `notify` shows a notification on the desktop: \
                see NOTIFICATIONS. `journal` runs nothing: the outcome's entry in the journal is enough. `discard` does \
                the same, for payloads that are known and not wanted. Required.
                """),
        Key(
            "Handler", "Exec", { $1(&$0.arguments) }, .commandLine, for: [.exec, .worker],
            meaning: """
                The program, by its absolute path, and its arguments, split and unquoted as in `ExecStart=` of \
                systemd.service(5). There is no shell, and `%` is written `%%`. Required for `exec` and `worker`.
                """),
        Key(
            "Handler", "Connect", { $1(&$0.socketPath) }, Form.socketPath.optional, for: [.socket],
            meaning: "The absolute path of the service's socket. Required for `socket`."),
    ]

    private static let sharedKeys: [Key<HandlerDraft>] = [
        Key(
            "Handler", "Instances", { $1(&$0.instances.instances) }, .integer(1...64), for: [.worker, .socket],
            default: "1",
            meaning: """
                The maximum number of running programs of a `worker`, or of connections of a `socket`; 1 to 64. The \
                daemon starts another instance when a callback finds all instances busy.
                """),
        Key(
            "Handler", "Pipeline", { $1(&$0.instances.pipeline) }, .integer(1...64), for: [.worker, .socket],
            default: "1",
            meaning: """
                The maximum number of callbacks that an instance gets before it has answered the first; 1 to 64. Above \
                1, an instance that misses one deadline loses its other callbacks, too.
                """),
        Key(
            "Handler", "OneInvocation", { $1(&$0.instances.isSingleUse) }, .boolean, for: [.socket], default: "no",
            meaning: """
                Whether each callback of a `socket` handler has a connection of its own: the daemon sends one line and \
                ends its input, and closes the connection after the answer, which needs no `id`. The answer is the \
                line with a `status`; lines before it give `result`, `options` and `log`. A connection that closes \
                without such a line fails only this callback. For sockets with `Accept=yes`, such as those of \
                pushrouterd(8), "Programs apart".
                """),
        Key(
            "Handler", "IdleTimeout", { $1(&$0.instances.idleTimeout) }, .idleTimeout,
            for: [.worker, .socket] + HandlerDraft.Kind.bridges,
            default: "5min",
            meaning: """
                The maximum idle time of an instance; then the daemon ends its input, and kills it a second later if \
                it still runs. 1s to 1d, or `infinity`. For a service that closes idle connections, set less than its \
                own time.
                """),
        Key(
            "Handler", "LogOutput", { $1(&$0.logsOutput) }, .boolean, for: [.exec, .worker],
            meaning: """
                Whether the standard error of an `exec` or `worker` handler goes into the journal, with `PUSH_HANDLER` \
                and, where it is written for one callback alone, `PUSH_SEQ` and `PUSH_N`; at most a hundred lines in \
                ten seconds, of a worker or of each run. The lines may have parts of payloads. In any case the attempt \
                keeps the last 4 KiB, for `pushctl show`. Default: `HandlerOutput=` of pushrouterd.conf(5), `no`.
                """),
        Key(
            "Handler", "Retry", { $1(&$0.retries) }, Form.integer(0...1000).optional,
            for: .working,
            meaning: """
                The maximum number of retries of the handler for one callback when it asks for them, 0 to 1000; only \
                in relay mode. After the last retry the outcome is `failed` with the reason `retries_used_up`. \
                Default: as often as the deadline allows.
                """),
        Key(
            "Handler", "MaxConcurrent", { $1(&$0.maxConcurrent) }, Form.integer(1...10_000).optional,
            for: .working,
            meaning: """
                The maximum number of callbacks that the handler gets at once, 1 to 10000; this limit applies in \
                addition to `HandlersMax=`. Other callbacks wait; a callback without a place before its deadline is \
                `expired` with the reason `queue_full`. Default: for `worker` and `socket` `Instances=` times \
                `Pipeline=`, for \(listed) 16, for `exec` no limit of its own. If there are several handlers that are \
                not built in, a handler without `MaxConcurrent=` also gets a place only while it has fewer places than \
                are free, so that a handler that hangs leaves places to the others: one handler has at most half of \
                `HandlersMax=`, two have a third each. A handler keeps its limits by its name: after a reload the new \
                limits also hold for running and waiting callbacks.
                """),
        Key(
            "Handler", "Queue", { $1(&$0.queueMax) }, .integer(0...1_000_000),
            for: .working, default: "10000",
            meaning: """
                The maximum number of callbacks that wait for the handler, 0 to 1000000; with 0 no callback waits. The \
                daemon refuses further requests for the handler with `overloaded` and `retry_after_ms`. Some callbacks \
                wait even at a full queue: after a decline of another handler, for a retry, after a reload or a \
                restart, the copy of an observing route, and a token for several handlers. Such a callback is \
                `expired` with the reason `queue_full` if it gets no place before its deadline and its handler never \
                had it. A callback that waits for earlier callbacks of its device is in no handler's queue.
                """),
        Key(
            "Handler", "Breaker", { $1(&$0.breaker) }, Form.breaker.optional,
            for: .working,
            meaning: """
                The limit of failures after which the handler gets no callbacks for a while, only in relay mode: a \
                number of failures, 1 to 1000, and a time, 100ms to 1h, such as `5 in 30s`. A failure is a missed \
                deadline, also during the wait for a retry; an end by a signal, a failed start, a lost instance, or \
                the last of all retries (`Retry=`). Any answer, also `rejected`, ends the count, but `retry` does not: \
                the result of the retry counts. After that number of failures in a row within the time the breaker \
                opens: the next route that matches gets the handler's callbacks, waiting ones included; a callback \
                without another route is `failed` with the reason `breaker_open`. With a default route to `journal` \
                these callbacks are `handled` there, with a remark. After `BreakerPause=` the handler gets one \
                callback, with its retries; its answer closes the breaker, its failure begins another pause. A reload \
                that changes the handler, and a restart, close the breaker.
                """),
        Key(
            "Handler", "BreakerPause", { $1(&$0.breakerPause) },
            Form.timeSpan(.milliseconds(100) ... .seconds(3600)).optional,
            for: .working, default: "10s",
            meaning: "The time for which the breaker stays open before it tries the handler again, 100ms to 1h."),
        Key(
            "Handler", "Environment", addingTo: { $1(&$0.environment) }, .environment, for: [.exec, .worker],
            meaning: """
                Words of the form `NAME=value` that are added to the program's environment; a list. Names that begin with \
                `PUSH_` are reserved for the daemon. Not for secrets.
                """),
        Key(
            "Handler", "Credential", addingTo: { $1(&$0.credentials) }, .credentials, for: [.exec, .worker],
            meaning: """
                Words of the form `NAME:/path`, a secret each; a list. The daemon reads the file when it starts the program, \
                so the user in `User=` need not be able to. The variable `PUSH_CREDENTIAL_NAME` has the path of a copy in \
                memory, which only the program, and the programs that inherit its descriptors, can open.
                """),
        Key(
            "Handler", "WorkingDirectory", { $1(&$0.workingDirectory) }, Form.absolutePath.optional,
            for: [.exec, .worker], default: "/",
            meaning: "The working directory of the program."),
        Key(
            "Handler", "User", { $1(&$0.confinement.user) }, Form.userName.optional, for: [.exec, .worker],
            meaning: """
                The name or the number of the user that the program runs as, with that user's groups. The daemon must \
                be root, or have CAP_SETUID and CAP_SETGID: the example pushrouterd.service.d/handler-users.conf gives \
                it these capabilities. Default: the daemon's own user; then the program can read the ledger, connect \
                to control.sock and end the daemon.
                """),
        Key(
            "Handler", "NoNewPrivileges", { $1(&$0.confinement.noNewPrivileges) }, Form.boolean.optional,
            for: [.exec, .worker],
            meaning: """
                Whether no program that the handler executes gets privileges that the handler does not have, as \
                set-user-id programs and file capabilities give them (see prctl(2), PR_SET_NO_NEW_PRIVS). `no` has no \
                effect if the daemon itself runs with no_new_privs, as in pushrouterd.service. Default: `yes` with \
                `User=`, else `no`.
                """),
        Key(
            "Handler", "MemoryMax", { $1(&$0.confinement.memoryMax) }, Form.byteSize((1 << 20)...(1 << 50)).optional,
            for: [.exec, .worker],
            meaning: """
                Limits of all processes of a run, or of a worker, together: memory (1M or more), beyond which the \
                kernel kills them; processes and threads at once; and the share of the processor, 1 to 10000, where \
                other runs have 100. They need a cgroup for each run (see HANDLERS of pushrouterd(8)) and the \
                controller in the service's cgroup; if one is missing, the daemon says so in a warning and runs the \
                handler without the limit.
                """),
        Key(
            "Handler", "TasksMax", { $1(&$0.confinement.tasksMax) }, Form.integer(1...4_194_304).optional,
            for: [.exec, .worker]),
        Key(
            "Handler", "CPUWeight", { $1(&$0.confinement.processorWeight) }, Form.integer(1...10_000).optional,
            for: [.exec, .worker]),
        Key(
            "Handler", "LimitNOFILE", { $1(&$0.confinement.openFilesMax) }, Form.integer(8...1_048_576).optional,
            for: [.exec, .worker],
            meaning: """
                The maximum number of open files of each process of the program, 8 or more, soft and hard limit; at \
                most the daemon's own hard limit. Default: the soft limit that the daemon was started with, and its \
                hard limit.
                """),
        Key(
            "Handler", "Nice", { $1(&$0.confinement.niceness) }, Form.niceness.optional, for: [.exec, .worker],
            meaning: """
                The niceness of the program, -20 to 19. Less than the daemon's own needs CAP_SYS_NICE. Default: the \
                daemon's.
                """),
        Key(
            "Handler", "Idempotent", { $1(&$0.idempotent) }, .boolean, default: "no",
            meaning: """
                Whether the daemon may run the program again for a callback if it may have run before a crash of the \
                daemon; whether a program may start before its request is on disk, on one machine; and whether \
                unanswered callbacks of a lost instance go to another instance, three times at most. For `http` also \
                whether the program sends a request without an answer again, in relay mode, although the server may \
                have received it.
                """),
        Key(
            "Handler", "Grace", { $1(&$0.grace) }, Form.timeSpan(.milliseconds(1) ... .seconds(9)).optional,
            for: [.exec],
            meaning: """
                The time before the deadline at which the program of an `exec` handler gets SIGTERM. Default: none; it \
                gets SIGKILL at the deadline.
                """),
        Key(
            "Handler", "Bus", { $1(&$0.notifications.bus) }, .notificationBus, for: [.notify], default: "session",
            meaning: """
                `session`, which is `DBUS_SESSION_BUS_ADDRESS` or $XDG_RUNTIME_DIR/bus; or an address of a Unix socket, \
                such as `unix:path=/run/user/1000/bus`.
                """),
        Key(
            "Handler", "AppName", { $1(&$0.notifications.appName) }, .notificationText, for: [.notify],
            default: "pushrouterd",
            meaning: "The name of the app for people."),
        Key(
            "Handler", "Icon", { $1(&$0.notifications.icon) }, Form.notificationText.optional, for: [.notify],
            meaning: """
                The icon if the payload names none: a name of the icon theme, or an absolute path. A payload may name \
                only icons of the theme.
                """),
        Key(
            "Handler", "DesktopEntry", { $1(&$0.notifications.desktopEntry) }, Form.desktopEntry.optional,
            for: [.notify],
            meaning: "The name of the app's desktop file without `.desktop`."),
        Key(
            "Handler", "Expire", { $1(&$0.notifications.expires) }, .expiry, for: [.notify],
            meaning: """
                The time for which the service shows a notification: 1s to 1d, or `infinity`. The service shows a \
                payload with `requireInteraction` or `sticky` until the person acts. Default: the service decides.
                """),
        Key(
            "Handler", "LocalImages", { $1(&$0.notifications.takesLocalImages) }, .boolean, for: [.notify],
            default: "no",
            meaning: """
                Whether an image that the payload names by a path or a `file:` address of this machine is shown: the \
                service then reads a file that the sender chooses. The daemon never loads images from the network.
                """),
    ]
}
