/// The kinds of events, each with the id by which `journalctl MESSAGE_ID=...` finds it and the message catalog
/// (`packaging/catalog/pushrouterd.catalog`) explains it. The ids are random; a released id never changes.
public enum MessageID: String, CaseIterable, Sendable {
    /// An invocation had its outcome in time.
    case outcome = "ad9eb882bbd1c83cf684c225a04c2a81"
    /// An invocation missed its deadline: `timed_out` or `expired`.
    case miss = "fdf4b3661109424cbd66d4bba36b3d34"
    /// An invocation ended in time, without success: `failed` or `unrouted`.
    case failure = "7d1c9be25a4e4d1f9a60c7f2be3a8054"
    /// The daemon is ready.
    case started = "c0b8a6be878da8eb52404fca55bc8182"
    /// The daemon continues the unfinished work of an earlier run.
    case recovered = "e3b8476d0f1b4c0d8f5ce27a91d36b4c"
    /// The daemon has begun to stop.
    case stopping = "2810d340f19a035d366e5fa6f29b719e"
    /// The daemon ends: no outcome follows.
    case stopped = "4c2fa914e05d4f4f8cf2f4b33db32ca1"
    /// A new configuration is in force.
    case reloaded = "efeca6acd58f953473f6fc0979b52dc2"
    /// A new configuration was refused; the last good one stays in force.
    case reloadFailed = "4731c6261ea168910d23f5814698302a"
    /// Entries were dropped because the journal did not accept them fast enough.
    case entriesDropped = "df5fefc0fff7c5e9a51211bf7291ba91"
    /// A commit takes longer than `SlowCommit=`: requests wait for it.
    case storeSlow = "121bb79d36a387e81705d5c459f486af"
    /// Commits are within `SlowCommit=` again.
    case storeFast = "f341fbce5a8e4a0f9213815c2329f415"
    /// Nothing can be written now: the disk or the log is full.
    case storeStalled = "9dd3644c9dc54e72995d896212c3f22a"
    /// Writing works again.
    case storeResumed = "05d21616597c469c9eeb012e6bd76cde"
    /// The wall clock was set while the daemon ran: nothing is deleted by its time.
    case clockStepped = "c92f23a52e93415b97c3d838f86098e9"
    /// A gap: the daemon was down, the clock was set, the machine was suspended or the disk stalled, with begin and
    /// end.
    case gap = "99cd294cf08241798e4e3f936c6dc2e6"
    /// This machine now leads a shared log.
    case leads = "5d0c4c1e8a5b4d0e9b6f2f6f5a3c9e17"
    /// This machine follows a shared log; another machine leads it, or none does.
    case follows = "b6a1f0e2c7d94a5fb9ed3f8a44c0d2b1"
    /// Another machine leads the shared log: this one makes no further acknowledgement, and ends.
    case fenced = "e17f6c0c2d8e4b43a6d1905c7b3f2a68"
    /// No copy of the ledger could be written to the database that machines share.
    case snapshotFailed = "0f6b7e0d51c94a7f8a3e2d6c94b1e7a5"
    /// A log was damaged; the daemon has begun another.
    case logSetAside = "e86786c7635541b6a39c4390ae442de1"
    /// Ledger and log had another format; the daemon has begun new ones.
    case formatSetAside = "6c0f8f2d1f6a4b0a9d0c6a1e2f7b4d35"
    /// A client's request or connection was refused.
    case refused = "85a6d5f7954b48f282ea9d3c0e0bd4c2"
    /// Successes have no entries of their own, because there were too many; this entry sums them up.
    case outcomesSummed = "3b2fb7bf8ac14822b95d42f339ec63d7"
    /// A handler repeatedly failed to answer: it gets no invocations for a while.
    case breakerOpened = "4ad6a8b6fb124aa281525b7e2b2ba8da"
    /// A handler whose breaker was open answers again.
    case breakerClosed = "9b0e6f0d5c1f4a37a6b1d1e6c7a2f4d8"
    /// The endpoint refuses the entries sent to it: sending stops until a person has fixed the cause.
    case sendingStopped = "a971ceb7df0442ef8971856725c52365"
    /// Sending waits after a failure, or for the rate limit.
    case sendingWaits = "857cf3ca156b4d81b8ddfd613ba0e714"
    /// Sending continues after a wait or a stop.
    case sendingResumed = "0dc3f839353c440cbf744ca5ebb5398a"
    /// The endpoint refused entries of custom data; they are kept and not sent.
    case entriesRejected = "070400ba0fbe4d7eaa28a4f5b7f5aaca"
    /// Entries of custom data broke a rule and were rejected on arrival.
    case customDataRejected = "5b0f9c1c3a694d0d8c7a4e6a90f2be71"
    /// The memory of devices is full, and devices with a token or a topic were forgotten.
    case devicesEvicted = "c36be3b1b6f94d86a5f20dc38d7e41f9"
    /// Entries of custom data were sent, and it is unknown whether the endpoint accepted them.
    case entriesUnknown = "e680936ef1914e368d7e8701ff61ebb5"
    /// A person was erased: ledger and log have no data that names the person.
    case erased = "f230e7a82c1f08038eba3825e09192d1"
    /// An erasure waits for a reader of the ledger, or for room.
    case erasureWaits = "f8167527753c9965f6296863b278f7ee"
    /// Requests were deleted before the end of their retention, because the ledger was larger than its limit.
    case prunedBySize = "434a9e69ab18b0eff28fc83ac83c92bf"
}
