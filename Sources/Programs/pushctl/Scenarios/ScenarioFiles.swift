import Glibc
import LinuxSystem

/// Finds scenario files.
enum ScenarioFiles {
    /// How the names of scenarios end in a directory; a file that is named itself may have any name.
    static let suffixes = [".jsonl", ".ndjson"]

    /// The scenarios that an operand stands for: itself, or those in the directory and below it, by name. What begins with
    /// a dot is left out, and links to directories are not followed.
    static func list(_ operand: String) throws(Failure) -> [String] {
        var status = stat()
        guard stat(operand, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return [operand] }
        let files = try files(in: operand)
        guard !files.isEmpty else {
            throw Failure(
                .noInput, "\(operand): no scenario in it: its files end in \(suffixes.joined(separator: " or "))")
        }
        return files
    }

    /// The configuration that lies beside a scenario, in a directory `config`; `nil` when there is none.
    static func configuration(beside file: String) -> String? {
        let directory = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
        var status = stat()
        let path = directory + "config"
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR ? path : nil
    }

    private static func files(in directory: String) throws(Failure) -> [String] {
        guard let stream = opendir(directory) else {
            throw Failure(.noInput, "\(directory): \(errorText(errno))")
        }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        closedir(stream)
        var found: [String] = []
        for name in names.sorted() {
            let path = directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
            var status = stat()
            if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                found += try files(in: path)
            } else if suffixes.contains(where: name.hasSuffix) {
                found.append(path)
            }
        }
        return found
    }
}
