public import Glibc

/// Starts a program with no signal blocked or ignored: the threads of the tests block most signals, and `Program`
/// ignores SIGPIPE. Traps on an error.
///
/// - Parameters:
///   - path: the path of the program.
///   - words: its name and arguments.
///   - environment: all of its variables, as `NAME=value`, but for the fault that Tests/Faults turns on.
///   - actions: the actions on its descriptors.
///   - leadsGroup: whether it leads a new process group.
/// - Returns: its process id, to be reaped by the caller.
public func startProgram(
    _ path: String, _ words: [String], environment: [String], actions: inout posix_spawn_file_actions_t,
    leadsGroup: Bool = false
) -> pid_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (leadsGroup ? POSIX_SPAWN_SETPGROUP : 0)
    posix_spawnattr_setflags(&attributes, Int16(flags))
    let faults: [String] = ["PUSH_FAULT", "PUSH_FAULTS_PASSED"].compactMap { (name: String) -> String? in
        getenv(name).map { "\(name)=" + String(cString: $0) }
    }
    let (arguments, variables) = (
        words.map { strdup($0) } + [nil], (environment + faults).map { strdup($0) } + [nil]
    )
    defer { for text in arguments + variables { free(text) } }
    var process: pid_t = 0
    let problem = posix_spawn(&process, path, &actions, &attributes, arguments, variables)
    precondition(problem == 0, "cannot start \(path): \(String(cString: strerror(problem)))")
    return process
}
