import Glibc
import LinuxSystem
import PushSettings

extension Session {
    /// Becomes the owner of the state directory if this is root: new files in it must belong to its owner.
    func dropPrivilegesToStateOwner() throws(Failure) { try dropPrivileges(toOwnerOf: directories.state) }
}

/// Gives up root's rights for those of a directory's owner.
func dropPrivileges(toOwnerOf directory: String) throws(Failure) {
    var facts = stat()
    guard geteuid() == 0, stat(directory, &facts) == 0, facts.st_uid != 0 else { return }
    // The groups first: only root can change them.
    guard setgroups(0, nil) == 0, setgid(facts.st_gid) == 0, setuid(facts.st_uid) == 0 else {
        throw Failure(.noPermission, "cannot become user \(facts.st_uid): \(errorText(errno))")
    }
    // The user cannot read root's home directory, and libpq looks for certificates in $HOME.
    unsetenv("HOME")
}
