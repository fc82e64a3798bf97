import Glibc

/// File descriptors that no client gets: the log makes files, the ledger opens them again, handlers have pipes. Without
/// them a crowd of clients would end the daemon.
///
/// The kernel gives the lowest free descriptor, so a client with a high one says how many are in use.
enum DescriptorReserve {
    /// The first descriptor that a producer does not get.
    static var belowForProducers: Int32 { limit - 2 * share }

    /// The first descriptor that an administrator or a reader does not get: they come in where producers do not any more.
    static var belowForAdministrators: Int32 { limit - share }

    /// An eighth of all, and at most 64.
    private static var share: Int32 { min(64, limit / 8) }

    /// The soft limit of this process; a large number where there is none.
    private static var limit: Int32 {
        var limits = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { return .max }
        return Int32(clamping: limits.rlim_cur)
    }
}
