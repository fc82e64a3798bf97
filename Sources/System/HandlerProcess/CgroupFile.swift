import Glibc
import LinuxSystem

/// Reads and writes the files in a cgroup's directory (cgroup-v2.rst).
enum CgroupFile {
    /// The depth to which cgroups below one are removed: a run may make none, so deeper ones are not this program's.
    private static let depthMax = 3

    /// Writes a value.
    ///
    /// - Parameter creating: whether to create the file, which a real cgroup does not allow.
    /// - Returns: whether the kernel accepted the value; otherwise `errno` is set.
    static func write(_ text: String, to path: String, creating: Bool = false) -> Bool {
        guard let file = FileDescriptor(open(path, O_WRONLY | O_CLOEXEC | (creating ? O_CREAT : 0), 0o600)) else {
            return false
        }
        return retryingInterrupts { Glibc.write(file.rawValue, text, text.utf8.count) } == text.utf8.count
    }

    /// Returns the words of a file; none if it cannot be read.
    static func words(of path: String) -> [String] {
        (ProcessFiles.contents(path) ?? []).split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns whether a cgroup is unfrozen and without processes; false if its state cannot be read. Takes none of the
    /// kernel's cgroup locks.
    static func isEmpty(_ cgroup: String) -> Bool { events(of: cgroup, begin: "populated 0\nfrozen 0\n") }

    /// Returns whether a cgroup has a process that has not exited; false if its state cannot be read. Takes none of the
    /// kernel's cgroup locks.
    static func isPopulated(_ cgroup: String) -> Bool { events(of: cgroup, begin: "populated 1\n") }

    private static func events(of cgroup: String, begin beginning: String) -> Bool {
        guard let file = FileDescriptor(open("\(cgroup)/cgroup.events", O_RDONLY | O_CLOEXEC)) else { return false }
        return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { text in
            let count = retryingInterrupts { read(file.rawValue, text.baseAddress, text.count) }
            return text.prefix(max(0, count)).starts(with: beginning.utf8)
        }
    }

    /// Returns the processes of a cgroup, without those of cgroups below it.
    static func processes(of cgroup: String) -> [Int32] { words(of: "\(cgroup)/cgroup.procs").compactMap(Int32.init) }

    /// Returns the names of the cgroups directly below one.
    static func children(of cgroup: String) -> [String] {
        guard let directory = opendir(cgroup) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            guard entry.pointee.d_type == UInt8(DT_DIR) else { continue }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { $0.prefix { $0 != 0 } }
            if name.first != UInt8(ascii: ".") { names.append(String(decoding: name, as: UTF8.self)) }
        }
        return names
    }

    /// Kills all processes of a cgroup and of those below it.
    ///
    /// - Parameter atOnce: whether to use `cgroup.kill`, if the kernel has it.
    static func kill(_ cgroup: String, atOnce: Bool = true) {
        if atOnce, write("1", to: "\(cgroup)/cgroup.kill") || errno != ENOENT { return }
        // Before Linux 5.14. Frozen processes cannot fork, and SIGKILL still ends them.
        _ = write("1", to: "\(cgroup)/cgroup.freeze")
        killEach(cgroup, depth: 0)
        _ = write("0", to: "\(cgroup)/cgroup.freeze")
    }

    private static func killEach(_ cgroup: String, depth: Int) {
        for process in processes(of: cgroup) where process > 0 { Glibc.kill(process, SIGKILL) }
        guard depth < depthMax else { return }
        for child in children(of: cgroup) { killEach("\(cgroup)/\(child)", depth: depth + 1) }
    }

    /// Removes a cgroup and those below it, if they have no processes.
    ///
    /// - Returns: whether it no longer exists.
    static func remove(_ cgroup: String, depth: Int = 0) -> Bool {
        if rmdir(cgroup) == 0 || errno == ENOENT { return true }
        guard depth < depthMax else { return false }
        let children = children(of: cgroup)
        guard !children.isEmpty else { return false }
        for child in children { _ = remove("\(cgroup)/\(child)", depth: depth + 1) }
        return rmdir(cgroup) == 0
    }
}
