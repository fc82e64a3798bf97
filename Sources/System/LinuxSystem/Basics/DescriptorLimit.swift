import Glibc

/// Raises the soft limit of open files: the one that a shell sets is for select(2), and clients and handlers need more.
///
/// - Returns: the soft limit before, for programs that are started; `nil` if `getrlimit` failed.
@discardableResult
public func raiseDescriptorLimit() -> UInt64? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
    let before = limit.rlim_cur
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
    // Without permission the program keeps the old limit, and turns away clients above it.
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return UInt64(before)
}
