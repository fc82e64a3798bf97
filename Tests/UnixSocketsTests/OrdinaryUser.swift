import Glibc

/// Runs `body` with the rights of an ordinary user when the tests run as root, in a directory that is his, and
/// ends the process, which is the exit test's own.
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
    // Past the sanitizers' checks at exit: they trace the process, which one that changed its user cannot be.
    _exit(0)
}
