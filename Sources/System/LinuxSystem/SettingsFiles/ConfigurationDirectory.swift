import Glibc
import PushModel
public import PushRouter
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
        producers = try effectiveFiles(in: directories, .producer)
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

/// Reads and writes small files as a whole: keys, certificates, rules.
public enum SmallFile {
    /// The limit for a file, in bytes; the rest is not read.
    private static let longest = 1 << 20

    /// Reads a file; `nil` if it does not exist.
    ///
    /// - Throws: if it cannot be read.
    public static func read(_ path: String) throws(StartFailure) -> [UInt8]? {
        guard let file = FileDescriptor(open(path, O_RDONLY | O_CLOEXEC)) else {
            guard errno == ENOENT else { throw .system("open \(path)") }
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: longest)
        var length = 0
        while length < bytes.count {
            let count = bytes.withUnsafeMutableBytes { bytes in
                retryingInterrupts {
                    Glibc.read(file.rawValue, bytes.baseAddress.map { $0 + length }, bytes.count - length)
                }
            }
            guard count >= 0 else { throw .system("read \(path)") }
            if count == 0 { break }
            length += count
        }
        return Array(bytes.prefix(length))
    }

    /// Replaces a file as a whole, durably.
    ///
    /// - Parameter diskStatus: the exit status of the error where the disk failed, and not only lacks room.
    public static func replace(
        _ path: String, with bytes: [UInt8], mode: UInt32, diskStatus: Int32 = StartFailure.system
    ) throws(StartFailure) {
        let draft = "\(path).new"
        unlink(draft)
        guard let file = FileDescriptor(open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)) else {
            throw .system("create \(draft)")
        }
        let failure = bytes.withUnsafeBytes { file.writeAll($0, at: 0) }
        errno = failure
        guard failure == 0 else {
            throw .system("write \(draft)", exitStatus: failure == EIO ? diskStatus : StartFailure.system)
        }
        guard fchmod(file.rawValue, mode) == 0 else { throw .system("write \(draft)") }
        guard fsync(file.rawValue) == 0 else { throw .system("sync \(draft)", exitStatus: diskStatus) }
        guard rename(draft, path) == 0 else { throw .system("rename \(draft)") }
        let parent = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? "."
        guard let directory = FileDescriptor(open(String(parent), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
            fsync(directory.rawValue) == 0
        else { throw .system("sync the directory of \(path)", exitStatus: diskStatus) }
    }

    /// Returns the names of the files in a directory with a suffix, sorted.
    public static func names(in path: String, suffix: String) throws(StartFailure) -> [String] {
        guard let directory = opendir(path) else { throw .system("open the directory \(path)") }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix("."), name.hasSuffix(suffix) { names.append(name) }
        }
        return names.sorted()
    }
}

/// The program of a bridge that runs as a child rather than as a service.
public enum BridgeFile {
    /// Returns the paths at which it is searched, in order: beside the running program, then in the installation
    /// directories.
    ///
    /// - Parameter program: its name.
    public static func places(of program: String) -> [String] {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let length = readlink("/proc/self/exe", &path, path.count - 1)
        var places = ["/usr/sbin/\(program)", "/usr/local/sbin/\(program)"]
        if length > 0 {
            let own = String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if let end = own.lastIndex(of: "/") { places.insert("\(own[..<end])/\(program)", at: 0) }
        }
        return places
    }

    /// Returns the command that starts it as a child.
    ///
    /// - Parameters:
    ///   - bridge: the bridge.
    ///   - directories: the configuration directories, the strongest first.
    ///   - isRequired: whether the first directory was given by name, so that no other is read.
    ///   - kept: the daemon's kept configurations: the bridge uses the one in force, whatever the directories have.
    /// - Returns: `nil` if it is not installed.
    public static func command(
        of bridge: Bridge, configuration directories: [String], isRequired: Bool, kept: ConfigurationKeeper?
    ) -> Handler.Command? {
        guard let path = places(of: bridge.program).first(where: { access($0, X_OK) == 0 }),
            let directory = directories.first
        else {
            return nil
        }
        // Makes the path absolute, because the child runs in another directory.
        let first = absolute(directory)
        var environment = isRequired ? [:] : ["CONFIGURATION_DIRECTORY": first]
        for variable in bridge.declaration.environment + ["CREDENTIALS_DIRECTORY"] {
            if let value = getenv(variable) { environment[variable] = String(cString: value) }
        }
        return Handler.Command(
            arguments: [path, "--child"] + (isRequired ? ["--config", first] : [])
                + (kept.map { ["--kept", absolute($0.state)] } ?? []), environment: environment)
    }

    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let current = getcwd(nil, 0) else { return path }
        defer { free(current) }
        return "\(String(cString: current))/\(path)"
    }
}
