import Glibc
import PushModel
public import PushSettings

/// A file or directory of the configuration that cannot be read.
public struct UnreadableFile: Error, Hashable, Sendable, CustomStringConvertible {
    /// Its path.
    public var path: String
    /// The error number.
    public var errno: Int32

    public var description: String {
        let advice =
            switch errno {
            case EACCES: "; let user \(geteuid()) read it, with chgrp and chmod"
            case EFBIG: "; the limit is \(contentsMax >> 20) MiB"
            default: ""
            }
        return "\(path): \(errorText(errno))\(advice)"
    }
}

extension ConfigurationSources {
    /// Reads the configuration; if there is none and none was given by name, uses the shipped handlers and route.
    ///
    /// - Parameters:
    ///   - directories: the strongest first; of files with the same name only the strongest is read.
    ///   - required: whether the first directory was given by name: then it must have the whole configuration.
    /// - Throws: `UnreadableFile` for a file that exists and cannot be read, and for a missing first directory that is
    ///   not the standard one.
    public init(reading directories: [String], required: Bool) throws(UnreadableFile) {
        if let first = directories.first, required || first != Directories.standardConfiguration {
            try requireDirectory(first)
        }
        self.init()
        main = try Self.mainFiles("pushrouterd.conf", in: directories)
        providers = try effectiveFiles(in: directories, .provider)
        handlers = try effectiveFiles(in: directories, .handler)
        routes = try effectiveFiles(in: directories, .route)
        tracks = try effectiveFiles(in: directories, .track)
        registrations = try effectiveFiles(in: directories, .registration)
        for directory in directories { strays += try unreadNames(in: directory) }
        // Providers and tracks alone run nothing, so they do not count as a configuration here.
        if !required, main.isEmpty, handlers.isEmpty, routes.isEmpty {
            handlers = Self.shipped.handlers
            routes = Self.shipped.routes
        }
    }

    /// Reads the main file of a program and its drop-ins, in the order of their precedence.
    ///
    /// - Parameters:
    ///   - name: the name of the main file; the directory of its drop-ins has this name with `.d`.
    ///   - directories: the strongest first.
    /// - Throws: `UnreadableFile` for a file that exists and cannot be read.
    public static func mainFiles(
        _ name: String, in directories: [String]
    ) throws(UnreadableFile) -> [ConfigurationFile] {
        try effectiveFiles(in: directories, folder: nil, named: { $0 == name })
            + effectiveFiles(in: directories, folder: "\(name).d", named: { $0.hasSuffix(".conf") })
    }

    /// Whether there was no configuration, so that the shipped handlers and route are in use.
    public var isStandIn: Bool {
        main.isEmpty && handlers == Self.shipped.handlers && routes == Self.shipped.routes
    }
}

/// Returns the files of one folder that are read.
private func effectiveFiles(
    in directories: [String], _ folder: ConfigurationFolder
) throws(UnreadableFile) -> [ConfigurationFile] {
    try effectiveFiles(in: directories, folder: folder.name, named: { $0.hasSuffix(folder.suffix) })
}

/// Returns warnings about the files and folders of a directory that are not read.
private func unreadNames(in directory: String) throws(UnreadableFile) -> [Diagnostic] {
    var strays: [Diagnostic] = []
    for name in try names(in: directory).sorted() {
        guard let remark = ConfigurationFolder.remark(onFolder: name), kind(of: "\(directory)/\(name)") == S_IFDIR
        else {
            continue
        }
        strays.append(Diagnostic(.warning, file: "\(directory)/\(name)", message: remark))
    }
    let folders =
        ConfigurationFolder.allCases.map { ($0.name, $0.suffix) }
        + ConfigurationFolder.dropIns.folders.map { ($0, ConfigurationFolder.dropIns.suffix) }
    for (folder, suffix) in folders {
        for name in try names(in: "\(directory)/\(folder)").sorted() {
            let path = "\(directory)/\(folder)/\(name)"
            guard let remark = ConfigurationFolder.remark(onFile: name, in: folder, suffix: suffix),
                kind(of: path) != S_IFDIR
            else { continue }
            strays.append(Diagnostic(.warning, file: path, message: remark))
        }
    }
    return strays
}

/// Returns the file type bits of a path's mode; `nil` if stat fails.
private func kind(of path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
}

/// Returns the files of one folder, sorted by name; of files with the same name, the strongest directory's.
private func effectiveFiles(
    in directories: [String], folder: String?, named isWanted: (String) -> Bool
) throws(UnreadableFile) -> [ConfigurationFile] {
    var paths: [String: String] = [:]
    for directory in directories.reversed() {
        let path = folder.map { "\(directory)/\($0)" } ?? directory
        for name in try names(in: path) where isWanted(name) { paths[name] = "\(path)/\(name)" }
    }
    var files: [ConfigurationFile] = []
    for (_, path) in paths.sorted(by: { $0.key < $1.key }) {
        files.append(ConfigurationFile(path: path, bytes: try contents(of: path)))
    }
    return files
}

private func requireDirectory(_ path: String) throws(UnreadableFile) {
    var status = stat()
    guard stat(path, &status) == 0 else { throw UnreadableFile(path: path, errno: errno) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw UnreadableFile(path: path, errno: ENOTDIR) }
}

/// Returns the names in a directory; none if it does not exist.
private func names(in path: String) throws(UnreadableFile) -> [String] {
    guard let directory = opendir(path) else {
        guard errno == ENOENT || errno == ENOTDIR else { throw UnreadableFile(path: path, errno: errno) }
        return []
    }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if !name.hasPrefix(".") { names.append(name) }
    }
    return names
}

/// The limit for a file, in bytes, longer than any written by hand; a device may never end.
private let contentsMax = 4 << 20

/// Returns the bytes of a file.
///
/// - Parameter limit: the longest file.
func contents(of path: String, atMost limit: Int = contentsMax) throws(UnreadableFile) -> [UInt8] {
    // O_NONBLOCK: the open of a FIFO must not block.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw UnreadableFile(path: path, errno: errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
        let count = read(descriptor, &chunk, chunk.count)
        if count == 0 { return bytes }
        guard count > 0 else {
            if errno == EINTR { continue }
            throw UnreadableFile(path: path, errno: errno)
        }
        bytes += chunk[..<count]
        guard bytes.count <= limit else { throw UnreadableFile(path: path, errno: EFBIG) }
    }
}
