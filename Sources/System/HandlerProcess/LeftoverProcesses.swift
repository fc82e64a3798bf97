import CLinux
import Glibc
import LinuxSystem

/// What the runs of a daemon that died have left on the system: not our children, so found by their mark.
public enum LeftoverProcesses {
    struct Entry {
        let process: Int32
        let status: ProcessFiles.Status
    }

    /// Kills every process whose mark begins with `<owner>:`, its descendants and its process group, and waits until
    /// they are gone. To be called before the first run, as it does not spare live ones. About 10 us for each process of
    /// the system where none is found.
    ///
    /// - Parameters:
    ///   - owner: the first part of the mark
    ///   - patience: how long to wait for their deaths, in all
    /// - Returns: those that are still there, stuck in the kernel or not ours to kill.
    public static func kill(of owner: String, patience: Duration) -> [Int32] {
        let end = SystemClock.monotonicNanoseconds + Int64(patience / .nanoseconds(1))
        // Again until none is found: one may have forked while the list was being read.
        while true {
            let found = find(markPrefix: "\(owner):", in: processes())
            for entry in found { signal(entry) }
            let left = found.filter { !waitForExit($0, until: end) }
            if found.isEmpty || !left.isEmpty { return left.map(\.process) }
            // One that forks faster than it is found must not keep the daemon from starting.
            if SystemClock.monotonicNanoseconds >= end { return found.map(\.process) }
        }
    }

    /// - Parameters:
    ///   - markPrefix: what their marks begin with.
    ///   - processes: those of the system.
    ///   - mark: what marks a process.
    ///   - status: what is known of one.
    static func find(
        markPrefix: String, in processes: [Int32], mark: (Int32) -> String? = mark(of:),
        status: (Int32) -> ProcessFiles.Status? = ProcessFiles.status(of:)
    ) -> [Entry] {
        func isMarked(_ process: Int32) -> Bool { mark(process)?.hasPrefix(markPrefix) ?? false }
        let candidates = Set(processes.filter(isMarked))
        // As a rule there is none: then every start is spared the other half of the reading.
        guard !candidates.isEmpty else { return [] }
        let all = processes.compactMap { process in status(process).map { Entry(process: process, status: $0) } }
        // The number may mean another process since the mark was read: it is read once more, between two looks at the same.
        let found = all.filter { entry in
            candidates.contains(entry.process) && isMarked(entry.process)
                && status(entry.process)?.startTime == entry.status.startTime
        }
        let marked = Set(found.map(\.process))
        // What cleared its environment is found by its group or its parents.
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

    /// - Parameter end: a time of `CLOCK_MONOTONIC`, in nanoseconds.
    private static func waitForExit(_ entry: Entry, until end: Int64) -> Bool {
        guard let process = descriptor(of: entry) else { return true }
        var exit = pollfd(fd: process.rawValue, events: Int16(POLLIN), revents: 0)
        while true {
            // Rounded up: a poll of 0 ms would spin through the last millisecond.
            let left = (max(0, end - SystemClock.monotonicNanoseconds) + 999_999) / 1_000_000
            let ready = poll(&exit, 1, Int32(clamping: left))
            if ready >= 0 || errno != EINTR { return ready > 0 }
        }
    }

    /// The descriptor of the very process that was found: opened first, then compared, so that it cannot be another one
    /// under the same number. Nil: it is gone.
    private static func descriptor(of entry: Entry) -> FileDescriptor? {
        guard let process = FileDescriptor(CLinux_pidfd_open(entry.process)),
            ProcessFiles.status(of: entry.process)?.startTime == entry.status.startTime
        else { return nil }
        return process
    }
}
