import Glibc
import TestSupport

/// Returns whether a process exists and has not ended; a zombie counts as ended.
func isAlive(_ process: Int32) -> Bool {
    guard let text = readFile("/proc/\(process)/stat"), let name = text.lastIndex(of: UInt8(ascii: ")")) else {
        return false
    }
    let state = text[name...].dropFirst(2).first
    return state != UInt8(ascii: "Z") && state != UInt8(ascii: "X")
}

/// Returns the live processes with this text in their environment.
func processes(withEnvironment text: String) -> [Int32] {
    guard let directory = opendir("/proc") else { return [] }
    defer { closedir(directory) }
    var found: [Int32] = []
    while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { $0.prefix { $0 != 0 } }
        guard let process = Int32(String(decoding: name, as: UTF8.self)), isAlive(process),
            let environment = readFile("/proc/\(process)/environ"),
            environment.split(separator: 0).contains(where: { String(decoding: $0, as: UTF8.self).hasPrefix(text) })
        else { continue }
        found.append(process)
    }
    return found
}

/// Returns the children of a process, from all of its threads.
func children(of process: Int32) -> [Int32] {
    guard let directory = opendir("/proc/\(process)/task") else { return [] }
    defer { closedir(directory) }
    var found: [Int32] = []
    while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let list = readFile("/proc/\(process)/task/\(name)/children") ?? []
        found += list.split(separator: UInt8(ascii: " ")).compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
    }
    return found
}

/// Returns the threads of a process with a name.
func threads(of process: Int32, named name: String) -> [Int32] {
    guard let directory = opendir("/proc/\(process)/task") else { return [] }
    defer { closedir(directory) }
    var found: [Int32] = []
    while let entry = readdir(directory) {
        let number = withUnsafeBytes(of: &entry.pointee.d_name) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        guard let thread = Int32(number), readFile("/proc/\(process)/task/\(number)/comm") == Array("\(name)\n".utf8)
        else { continue }
        found.append(thread)
    }
    return found
}

/// Returns the resident memory of a process in KiB.
func residentKilobytes(of process: Int32) -> Int? {
    let status = readFile("/proc/\(process)/status").map { String(decoding: $0, as: UTF8.self) }
    let line = status?.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) }
}
