import Glibc
import PushModel
public import PushSettings

extension ServiceFacts {
    /// Returns the rights of this process, found by trials and from /proc. A process that starts handlers calls this
    /// once, at its start, since the rights never change later.
    public static func ofThisProcess() -> ServiceFacts {
        var facts = ServiceFacts()
        facts.canChangeUser = hasCapabilities([CapabilityNumber.setgid, CapabilityNumber.setuid])
        let probe = FileDescriptor(socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0))
        facts.hasInternetSockets = probe != nil
        facts.hasInterfaces = interfaces().contains { $0 != "lo" }
        facts.hasWritableCode = mapsWritableCode()
        let mounts = mounts()
        facts.hasPrivateTmp = mounts.contains { $0.point == "/tmp" && String($0.root).has("/systemd-private-") }
        facts.hidesHomes = mounts.contains {
            ["/home", "/root"].contains($0.point) && (String($0.root).has("/inaccessible/") || $0.isEmptyReadOnly)
        }
        facts.hasReadOnlyRoot = mounts.last { $0.point == "/" }?.options.contains("ro") ?? false
        facts.hasSessionBus = sessionVariables.contains { getenv($0) != nil }
        return facts
    }

    private enum CapabilityNumber {
        static let setgid: UInt64 = 6
        static let setuid: UInt64 = 7
    }

    /// Returns whether this process has all of these capabilities in its effective set.
    private static func hasCapabilities(_ numbers: [UInt64]) -> Bool {
        let line = lines(of: "/proc/self/status").first { $0.hasPrefix("CapEff:") }
        guard let digits = line?.dropFirst("CapEff:".count).drop(while: { $0 == "\t" || $0 == " " }),
            let set = UInt64(digits, radix: 16)
        else { return false }
        return numbers.allSatisfy { set & (1 << $0) != 0 }
    }

    /// Returns the names of the network interfaces of this process.
    private static func interfaces() -> [Substring] {
        lines(of: "/proc/self/net/dev").dropFirst(2).compactMap { line in
            line.split(separator: ":").first.map { $0.drop { $0 == " " } }
        }
    }

    private static func mapsWritableCode() -> Bool {
        let length = Int(getpagesize())
        guard
            let page = mmap(
                nil, length, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            page != MAP_FAILED
        else { return false }
        munmap(page, length)
        return true
    }

    /// One line of `/proc/self/mountinfo`.
    private struct Mount {
        let root: Substring
        let point: Substring
        let options: [Substring]
        let fileSystem: Substring

        /// Whether it is `ProtectHome=tmpfs`, or an empty file system over a hidden directory.
        var isEmptyReadOnly: Bool { fileSystem == "tmpfs" && options.contains("ro") }
    }

    private static func mounts() -> [Mount] {
        lines(of: "/proc/self/mountinfo").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 6, let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count else { return nil }
            return Mount(
                root: fields[3], point: fields[4], options: fields[5].split(separator: ","),
                fileSystem: fields[dash + 1])
        }
    }

    /// Returns the lines of a file of the kernel; of a very long file only the first ones.
    private static func lines(of path: String) -> [Substring] {
        guard let file = FileDescriptor(open(path, O_RDONLY | O_CLOEXEC)) else { return [] }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count < 1 << 20 {
            let count = retryingInterrupts { read(file.rawValue, &chunk, chunk.count) }
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { $0[...] }
    }
}
