import Glibc
public import PushModel
public import PushSettings
import Synchronization

/// The files in which configurations that were in force are kept: `configurations` in the state directory, with a file
/// for each, named by its id, and the list of them.
///
/// Only the daemon that has locked the state directory writes there.
public struct ConfigurationKeeper: Sendable {
    /// The state directory.
    public let state: String
    /// The directory of the files.
    public var directory: String { "\(state)/configurations" }
    /// Lets one thread write at a time: a `JobThread` that `leave()` ended may still write when the next one begins.
    private static let isWriting = Mutex(())

    /// - Parameter state: the state directory.
    public init(state: String) { self.state = state }

    private static let listName = "list"
    private var listPath: String { "\(directory)/\(Self.listName)" }

    private func path(of id: ConfigurationID) -> String { "\(directory)/\(id)" }

    /// The configurations that are kept; none if the list cannot be read.
    public var list: KeptConfigurations {
        KeptConfigurations(text: (try? contents(of: listPath)) ?? [])
    }

    /// Returns a configuration; `nil` if it is not kept, or if its file is damaged.
    public func sources(of id: ConfigurationID) -> ConfigurationSources? {
        guard let text = try? contents(of: path(of: id), atMost: KeptConfigurations.lengthMaxOfOne),
            let sources = ConfigurationSources(keptText: text), sources.id == id
        else { return nil }
        return sources
    }

    /// The configurations that can be read, the last one first.
    public var newestFirst: some Sequence<(id: ConfigurationID, sources: ConfigurationSources)> {
        list.entries.reversed().lazy.compactMap { entry in sources(of: entry.id).map { (entry.id, $0) } }
    }

    /// Keeps a configuration durably, as the last one; to be called before it is in force.
    ///
    /// - Parameters:
    ///   - sources: the configuration.
    ///   - now: the time.
    ///   - isNamed: whether a stored request was decided by a configuration.
    /// - Returns: when it came into force.
    /// - Throws: if it cannot be written, with `StartFailure.inputOutput` if the disk failed. The others are kept then.
    public func keep(
        _ sources: ConfigurationSources, at now: WallTime, isNamed: (ConfigurationID) -> Bool
    ) throws(StartFailure) -> WallTime {
        try Self.isWriting.withLock { _ throws(StartFailure) in try write(sources, at: now, isNamed: isNamed) }
    }

    private func write(
        _ sources: ConfigurationSources, at now: WallTime, isNamed: (ConfigurationID) -> Bool
    ) throws(StartFailure) -> WallTime {
        let id = sources.id
        var list = list
        let text = sources.keptText
        if let last = list.last, last.id == id, isKept(text, as: id) { return last.since }
        guard text.count <= KeptConfigurations.lengthMaxOfOne else {
            throw StartFailure(
                "the configuration has \(text.count) bytes, and the longest that is kept has "
                    + "\(KeptConfigurations.lengthMaxOfOne >> 20) MiB: put less into it",
                exitStatus: StartFailure.configuration)
        }
        list.put(id, length: text.count, at: now, isNamed: isNamed)
        do throws(StartFailure) {
            try makeDirectory()
            let status = StartFailure.inputOutput
            try SmallFile.replace(path(of: id), with: text, mode: 0o600, diskStatus: status)
            try SmallFile.replace(listPath, with: list.text, mode: 0o600, diskStatus: status)
        } catch {
            // A draft would take the room that is missing.
            unlink("\(path(of: id)).new")
            throw StartFailure(
                "the configuration cannot be kept: \(error.lines.joined(separator: "; "))",
                exitStatus: error.exitStatus)
        }
        removeOthers(than: list)
        return list.last?.since ?? now
    }

    /// Whether a file has a text. Configurations with one id may differ in what decides nothing.
    private func isKept(_ text: [UInt8], as id: ConfigurationID) -> Bool {
        (try? contents(of: path(of: id), atMost: KeptConfigurations.lengthMaxOfOne)) == text
    }

    /// Removes the files that the list does not have, also those that a crash left. A file that stays is no harm.
    private func removeOthers(than list: KeptConfigurations) {
        let names = Set(list.entries.map(\.id.description) + [Self.listName])
        for name in (try? SmallFile.names(in: directory, suffix: "")) ?? [] where !names.contains(name) {
            unlink("\(directory)/\(name)")
        }
    }

    private func makeDirectory() throws(StartFailure) {
        guard mkdir(directory, 0o700) != 0 else {
            guard let descriptor = FileDescriptor(open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
                fsync(descriptor.rawValue) == 0
            else { throw .system("sync the directory \(state)", exitStatus: StartFailure.inputOutput) }
            return
        }
        guard errno == EEXIST else { throw .system("make the directory \(directory)") }
    }
}

/// A configuration that was read and is valid.
public struct LoadedConfiguration {
    /// Its settings.
    public var settings: Settings
    /// The files that it was read from.
    public var sources: ConfigurationSources
    /// Its warnings.
    public var warnings: [Diagnostic]

    /// Reads and validates everything.
    ///
    /// - Parameters:
    ///   - directories: the strongest first.
    ///   - isRequired: whether the first directory was given by name, and so must exist.
    ///   - mainOnly: whether only `pushrouterd.conf` and its drop-ins are validated.
    /// - Throws: `StartFailure` with a line for each error, and the warnings.
    public init(
        reading directories: [String], required isRequired: Bool, mainOnly: Bool = false
    ) throws(StartFailure) {
        do {
            sources = try ConfigurationSources(reading: directories, required: isRequired)
        } catch {
            throw StartFailure("cannot read the configuration: \(error)", exitStatus: StartFailure.configuration)
        }
        let (settings, diagnostics) = Settings.load(
            mainOnly ? ConfigurationSources(main: sources.main) : sources)
        guard let settings else {
            throw StartFailure(
                lines: diagnostics.filter { $0.severity == .error }.map(\.description),
                warnings: diagnostics.filter { $0.severity != .error }.map(\.description),
                exitStatus: StartFailure.configuration)
        }
        self.settings = settings
        warnings = diagnostics
    }
}

/// The reason why a service cannot start or continue: lines for people, and an exit status of sysexits(3).
public struct StartFailure: Error, Hashable, Sendable {
    /// The errors, one line each.
    public var lines: [String]
    /// The warnings, one line each.
    public var warnings: [String] = []
    /// The exit status.
    public var exitStatus: Int32

    /// The command line is wrong.
    public static let usage: Int32 = 2
    /// `EX_UNAVAILABLE`: a resource that the service needs is missing, or another process has it.
    public static let unavailable: Int32 = 69
    /// `EX_OSERR`: a system call failed.
    public static let system: Int32 = 71
    /// `EX_CANTCREAT`: a file or socket cannot be created.
    public static let cannotCreate: Int32 = 73
    /// `EX_IOERR`: a disk error.
    public static let inputOutput: Int32 = 74
    /// `EX_TEMPFAIL`: another machine leads now; after a restart this one follows.
    public static let temporary: Int32 = 75
    /// `EX_NOPERM`: other users have rights that they must not have.
    public static let permission: Int32 = 77
    /// `EX_CONFIG`: the configuration, or the key.
    public static let configuration: Int32 = 78

    /// Makes a failure of one line.
    public init(_ line: String, exitStatus: Int32) { self.init(lines: [line], exitStatus: exitStatus) }

    /// Joins the parts.
    public init(lines: [String], warnings: [String] = [], exitStatus: Int32) {
        self.lines = lines
        self.warnings = warnings
        self.exitStatus = exitStatus
    }

    /// Makes a failure from `errno`.
    ///
    /// - Parameters:
    ///   - step: the operation, as the end of a sentence that begins with "cannot".
    ///   - exitStatus: the exit status.
    public static func system(_ step: String, exitStatus: Int32 = system) -> StartFailure {
        StartFailure("cannot \(step): \(errorText(errno))", exitStatus: exitStatus)
    }
}

/// Writes lines to standard error, each after the program's name.
public func complain(_ lines: [String], as program: String) {
    for line in lines {
        let bytes = Array("\(program): \(line)\n".utf8)
        // A failure is ignored: there is no other place to report it.
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
