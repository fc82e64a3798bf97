import Glibc

/// File descriptors that no client gets: the log creates files, the ledger reopens its own, handlers have pipes.
/// Without them too many clients would end the daemon.
///
/// The kernel gives the lowest free descriptor, so the number of a client's descriptor tells how many are in use.
enum DescriptorReserve {
    /// The first descriptor that a producer does not get.
    static var belowForProducers: Int32 { limit - 2 * share }

    /// The first descriptor that a client of `control.sock` or `read.sock` does not get: they connect when producers
    /// cannot.
    static var belowForAdministrators: Int32 { limit - share }

    /// An eighth of all descriptors, at most 64.
    private static var share: Int32 { min(64, limit / 8) }

    /// The soft limit of this process; `.max` if `getrlimit` fails.
    private static var limit: Int32 {
        var limits = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { return .max }
        return Int32(clamping: limits.rlim_cur)
    }
}
