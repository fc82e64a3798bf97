import Glibc
import LinuxSystem
import PushSettings

extension Session {
    /// Files in the state directory must be those of its owner: root that makes some there does so as that user.
    func becomeOwnerOfState() throws(Failure) { try becomeOwner(of: directories.state) }
}

/// Gives root's rights up for those of the owner of a directory.
func becomeOwner(of directory: String) throws(Failure) {
    var facts = stat()
    guard geteuid() == 0, stat(directory, &facts) == 0, facts.st_uid != 0 else { return }
    // The groups first: without root's rights they cannot be changed.
    guard setgroups(0, nil) == 0, setgid(facts.st_gid) == 0, setuid(facts.st_uid) == 0 else {
        throw Failure(.noPermission, "cannot become user \(facts.st_uid): \(errorText(errno))")
    }
    // Root's home directory is closed to that user, and libpq looks for certificates in $HOME.
    unsetenv("HOME")
}
