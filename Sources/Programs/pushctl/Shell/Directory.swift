import Glibc
import LinuxSystem

/// Finds directories and files.
enum Directory {
    /// Whether a path is a directory, or a symbolic link to one.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether a path is a regular file, or a symbolic link to one: another one may have no end, or wait for a writer.
    static func hasRegular(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// The files in a directory and below it, sorted by name. Skips names that begin with a dot, and follows no
    /// symbolic links to directories.
    static func files(below directory: String) throws(Failure) -> [String] {
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
                found += try files(below: path)
            } else {
                found.append(path)
            }
        }
        return found
    }
}
