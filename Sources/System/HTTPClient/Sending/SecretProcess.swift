import CLinux
import Glibc

/// Protects a process with secrets in its memory.
public enum SecretProcess {
    /// Turns off core dumps of this process, and access by debuggers of the same user. To be called before the first
    /// secret is read.
    ///
    /// - Returns: whether it succeeded; otherwise `errno` is set.
    public static func forbidCores() -> Bool {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        return CLinux_deny_dumps() == 0 && setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0
    }
}
