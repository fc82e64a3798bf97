import CTestProbe
import Glibc
import TestSupport
import Testing

/// A cgroup that a daemon owns, as from a service manager with Delegate=yes; `deinit` removes it with its contents.
final class DelegatedCgroup {
    /// The mount point of cgroup version 2.
    private static let mount = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].first {
        access("\($0)/cgroup.procs", W_OK) == 0 && access("\($0)/cgroup.subtree_control", F_OK) == 0
    }

    /// Whether this user can make a cgroup here.
    static let isPossible = DelegatedCgroup(name: "push-probe-\(getpid())") != nil

    let path: String

    init?(name: String) {
        guard let mount = Self.mount else { return nil }
        path = "\(mount)/\(name)"
        guard mkdir(path, 0o755) == 0, CTestProbe_delegate(path) == 0 else {
            rmdir(path)
            return nil
        }
    }

    deinit {
        writeFile("1", to: "\(path)/cgroup.kill")
        for child in children(of: "runs") { rmdir("\(path)/runs/\(child)") }
        for _ in 0..<1000 {
            for name in ["runs", "daemon"] { rmdir("\(path)/\(name)") }
            if rmdir(path) == 0 || errno == ENOENT { return }
            usleep(1000)
        }
    }

    /// Returns the child cgroups of one below it.
    func children(of name: String) -> [String] {
        guard let directory = opendir("\(path)/\(name)") else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            guard entry.pointee.d_type == UInt8(DT_DIR) else { continue }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    /// Returns the processes of a cgroup below it.
    func processes(of name: String) -> [Int32] {
        let list = readFile("\(path)/\(name)/cgroup.procs") ?? []
        return list.split(separator: UInt8(ascii: "\n")).compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
    }
}
