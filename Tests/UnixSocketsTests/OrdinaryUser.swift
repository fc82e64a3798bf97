import Glibc

/// Runs `body` with the rights of an ordinary user when the tests run as root, in a directory of that user, and ends
/// the exit test's process.
func asOrdinaryUser(_ body: (TemporaryDirectory) -> Void) -> Never {
    let nobody: UInt32 = 65534
    let directory = TemporaryDirectory()
    let isRoot = getuid() == 0
    if isRoot {
        guard chown(directory.path, nobody, nobody) == 0, setgroups(0, nil) == 0, setegid(nobody) == 0,
            seteuid(nobody) == 0
        else { fatalError("cannot change the user") }
    }
    body(directory)
    if isRoot, seteuid(0) != 0 { fatalError("cannot change the user back") }
    directory.remove()
    // Skips the sanitizers' checks at exit: they trace the process, which fails after a change of its user.
    _exit(0)
}
