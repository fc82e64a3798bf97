import Glibc
import LinuxSystem

/// Reads `/proc/PID`, as far as its permissions allow.
enum ProcessFiles {
    /// Fields of `/proc/PID/stat`, see proc(5).
    struct Status: Equatable {
        var parent: Int32
        var group: Int32
        /// In clock ticks since boot; together with the process id it identifies one process.
        var startTime: UInt64
        /// Whether it is exiting, or a zombie.
        var isExiting: Bool
        /// In bytes. Nil while it has no environment: in execve, or exiting.
        var environmentLength: UInt64?
    }

    /// The result of looking for a process's mark.
    enum Mark: Equatable {
        case marked(String)
        /// Its environment has no mark.
        case unmarked
        /// Its environment is unreadable: it runs as another user, or is not dumpable.
        case unreadable
        /// It is exiting and has no environment any more, or it is gone.
        case exiting
        /// It is in execve: it had an environment, and will have one.
        case undecided
    }

    static func mark(of process: Int32) -> Mark {
        guard let environment = contents("/proc/\(process)/environ") else {
            return status(of: process)?.isExiting == false ? .unreadable : .exiting
        }
        if let value = mark(in: environment) { return .marked(value) }
        // An empty environment reads like that of a process in execve; the addresses in stat distinguish them.
        guard environment.isEmpty else { return .unmarked }
        guard let status = status(of: process), !status.isExiting else { return .exiting }
        return status.environmentLength == 0 ? .unmarked : .undecided
    }

    static func status(of process: Int32) -> Status? {
        contents("/proc/\(process)/stat").flatMap(status(parsing:))
    }

    /// Returns the value of the first `PUSH_RUN`, which getenv would find.
    static func mark(in environment: [UInt8]) -> String? {
        let prefix = Array("\(ProcessCommand.markVariable)=".utf8)
        let entry = environment.split(separator: 0).first { $0.starts(with: prefix) }
        return entry.map { String(decoding: $0.dropFirst(prefix.count), as: UTF8.self) }
    }

    /// Parses a stat file. The name, its second field, is in parentheses and may contain any bytes: fields count from
    /// the last parenthesis.
    static func status(parsing text: [UInt8]) -> Status? {
        guard let name = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = text[(name + 1)...].split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        func number(_ field: Int) -> UInt64? {
            fields.count > field - 3 ? UInt64(String(decoding: fields[field - 3], as: UTF8.self)) : nil
        }
        guard let parent = number(4), let group = number(5), let flags = number(9), let startTime = number(22),
            let codeStart = number(26), let environmentStart = number(50), let environmentEnd = number(51)
        else { return nil }
        let exitingFlag: UInt64 = 0x4  // PF_EXITING
        return Status(
            parent: Int32(truncatingIfNeeded: parent), group: Int32(truncatingIfNeeded: group), startTime: startTime,
            isExiting: flags & exitingFlag != 0,
            // execve sets the start of the code last. A reader without permission gets 1 for it, and 0 for the
            // environment.
            environmentLength: codeStart == 0 ? nil : environmentEnd &- environmentStart)
    }

    /// Parses the process ids in a `children` file.
    static func processes(parsing text: [UInt8]) -> [Int32] {
        text.split(separator: UInt8(ascii: " ")).compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
    }

    /// Returns the content of the file at a path; nil if it cannot be read.
    static func contents(_ path: String) -> [UInt8]? {
        guard let file = FileDescriptor(open(path, O_RDONLY | O_CLOEXEC)) else { return nil }
        return contents(file)
    }

    /// Returns the content of a file, from its start; nil if it cannot be read.
    static func contents(_ file: borrowing FileDescriptor) -> [UInt8]? {
        var bytes: [UInt8] = []
        let isRead = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { chunk in
            while true {
                let count = pread(file.rawValue, chunk.baseAddress, chunk.count, off_t(bytes.count))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count == 0 }
                bytes.append(contentsOf: chunk[..<count])
            }
        }
        return isRead ? bytes : nil
    }
}
