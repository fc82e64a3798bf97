import CLinux
import Glibc

/// A process that has secrets in its memory.
public enum SecretProcess {
    /// Nobody is to find a secret in a core of this process, or to read it with a debugger. To be called before the first is
    /// read.
    ///
    /// - Returns: whether the system does so; `errno` says why not.
    public static func forbidCores() -> Bool {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        return CLinux_deny_dumps() == 0 && setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0
    }
}
