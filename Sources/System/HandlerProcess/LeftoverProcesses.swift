import CLinux
import Glibc
import LinuxSystem

/// Processes that an earlier daemon's runs left behind. They are not children of this process, so their mark identifies
/// them.
public enum LeftoverProcesses {
    struct Entry {
        let process: Int32
        let status: ProcessFiles.Status
    }

    /// Kills every process whose mark begins with `<owner>:`, its descendants and its process group, and waits for
    /// their exit. To be called before the first run, as it kills live runs, too. Takes about 10 us for each process of
    /// the system if it finds none.
    ///
    /// - Parameters:
    ///   - owner: the first part of the mark
    ///   - patience: the longest time to wait for all of them
    /// - Returns: the processes that still exist: stuck in the kernel, or not permitted to be signalled.
    public static func kill(of owner: String, patience: Duration) -> [Int32] {
        let end = SystemClock.monotonicNanoseconds + Int64(patience / .nanoseconds(1))
        // Repeats until it finds none: a process may have forked while the list was read.
        while true {
            let found = find(markPrefix: "\(owner):", in: processes())
            for entry in found { signal(entry) }
            let left = found.filter { !waitForExit($0, until: end) }
            if found.isEmpty || !left.isEmpty { return left.map(\.process) }
            // A process that forks faster than it is found must not keep the daemon from starting.
            if SystemClock.monotonicNanoseconds >= end { return found.map(\.process) }
        }
    }

    /// - Parameters:
    ///   - markPrefix: the prefix of the marks.
    ///   - processes: the processes of the system.
    ///   - mark: returns the mark of a process.
    ///   - status: returns the status of a process.
    static func find(
        markPrefix: String, in processes: [Int32], mark: (Int32) -> String? = mark(of:),
        status: (Int32) -> ProcessFiles.Status? = ProcessFiles.status(of:)
    ) -> [Entry] {
        func isMarked(_ process: Int32) -> Bool { mark(process)?.hasPrefix(markPrefix) ?? false }
        let candidates = Set(processes.filter(isMarked))
        // Usually there is none: then the start does not read the status of every process.
        guard !candidates.isEmpty else { return [] }
        let all = processes.compactMap { process in status(process).map { Entry(process: process, status: $0) } }
        // Another process may have got the number since the mark was read: reads the mark again, and compares the start
        // time before and after.
        let found = all.filter { entry in
            candidates.contains(entry.process) && isMarked(entry.process)
                && status(entry.process)?.startTime == entry.status.startTime
        }
        let marked = Set(found.map(\.process))
        // A process that cleared its environment is found by its group or its ancestors.
        let groups = Set(found.map(\.status.group)).subtracting([getpgrp(), 0, 1])
        var parents = marked.union(all.filter { groups.contains($0.status.group) }.map(\.process))
        var size = 0
        while parents.count > size {
            size = parents.count
            parents.formUnion(all.filter { parents.contains($0.status.parent) }.map(\.process))
        }
        return all.filter { parents.contains($0.process) && $0.process != getpid() }
    }

    static func mark(of process: Int32) -> String? {
        ProcessFiles.contents("/proc/\(process)/environ").flatMap(ProcessFiles.mark(in:))
    }

    private static func processes() -> [Int32] {
        guard let directory = opendir("/proc") else { return [] }
        defer { closedir(directory) }
        var found: [Int32] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { $0.prefix { $0 != 0 } }
            if let process = Int32(String(decoding: name, as: UTF8.self)) { found.append(process) }
        }
        return found
    }

    private static func signal(_ entry: Entry) {
        guard let process = descriptor(of: entry) else { return }
        _ = CLinux_pidfd_signal(process.rawValue, SIGKILL)
    }

    /// - Parameter end: a time on `CLOCK_MONOTONIC`, in nanoseconds.
    private static func waitForExit(_ entry: Entry, until end: Int64) -> Bool {
        guard let process = descriptor(of: entry) else { return true }
        var exit = pollfd(fd: process.rawValue, events: Int16(POLLIN), revents: 0)
        while true {
            // Rounds up: a poll of 0 ms would spin through the last millisecond.
            let left = (max(0, end - SystemClock.monotonicNanoseconds) + 999_999) / 1_000_000
            let ready = poll(&exit, 1, Int32(clamping: left))
            if ready >= 0 || errno != EINTR { return ready > 0 }
        }
    }

    /// Returns a pidfd of the process that was found. It is opened first, then the start time is compared, so that it
    /// cannot be another process with the same number. Nil if the process is gone.
    private static func descriptor(of entry: Entry) -> FileDescriptor? {
        guard let process = FileDescriptor(CLinux_pidfd_open(entry.process)),
            ProcessFiles.status(of: entry.process)?.startTime == entry.status.startTime
        else { return nil }
        return process
    }
}
