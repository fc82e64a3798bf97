import Glibc
public import PushModel
import PushRouter
public import PushSettings

extension ConfigurationSources {
    /// Returns the faults of a valid configuration that only the system shows, as messages for people.
    ///
    /// - Parameters:
    ///   - settings: the settings loaded from it.
    ///   - directories: the directories that it was read from.
    ///   - service: the rights that the service gives its handlers; `nil` if they are unknown.
    /// - Returns: warnings, and an error for each handler that cannot work in the service.
    public func systemFindings(
        of settings: Settings, directories: [String], in service: ServiceFacts?
    ) -> [Diagnostic] {
        var warnings: [Diagnostic] = []
        if isStandIn {
            let message = "no configuration is installed: the shipped handlers and the route to the journal are used"
            warnings.append(Diagnostic(.warning, file: directories.joined(separator: ", "), message: message))
        }
        let files = handlerFiles
        for handler in settings.routing.handlers.values.sorted(by: { $0.name < $1.name }) {
            let file = files[handler.name] ?? handler.name
            warnings += handler.kind.systemWarnings.map { Diagnostic(.warning, file: file, message: $0) }
        }
        return warnings + serviceFindings(of: settings, in: service)
    }

    /// Returns the faults of the handlers in the service: warnings, and errors.
    ///
    /// - Parameters:
    ///   - settings: the settings loaded from it.
    ///   - service: the rights that the service gives its handlers; `nil` if they are unknown, which yields no fault.
    public func serviceFindings(of settings: Settings, in service: ServiceFacts?) -> [Diagnostic] {
        guard let service else { return [] }
        let files = handlerFiles
        return settings.routing.handlers.values.sorted { $0.name < $1.name }.flatMap { handler in
            let file = files[handler.name] ?? handler.name
            let problems = service.problems(
                of: handler, user: ownUser, runtime: handler.kind.runtime, resolve: resolvingLinks)
            return problems.map {
                Diagnostic($0.severity, file: file, message: $0.message)
            }
        }
    }

    /// The paths of the handlers' files, by the handlers' names.
    private var handlerFiles: [String: String] {
        Dictionary(handlers.map { ($0.stem, $0.path) }) { first, _ in first }
    }

    /// Returns the fault of the API key's file for which the forwarder would refuse it, as far as this user may see it.
    ///
    /// - Parameter settings: the settings loaded from it.
    public func keyFileWarnings(of settings: Settings) -> [Diagnostic] {
        guard let path = settings.keyFileInUse else { return [] }
        let warning = secretWarning(
            "KeyFile", path, of: "key", readBy: "the forwarder", without: "the forwarder does not start without it")
        guard let message = warning else { return [] }
        return [
            Diagnostic(.warning, file: place(of: "KeyFile").file, message: message)
        ]
    }

    /// Looks up the users and groups of `producers.d`.
    ///
    /// - Parameter settings: the settings loaded from it, in which their numbers are filled in.
    /// - Returns: a warning for each name that nobody has, and an error for each that cannot be looked up: a rule that
    ///   passes over a user lets that user send everything.
    public func lookUpProducers(of settings: inout Settings) -> [Diagnostic] {
        var findings: [Diagnostic] = []
        func lookUp(_ members: inout [ProducerRule.Member], _ key: String, _ rule: String, _ kind: SystemNumber.Kind) {
            for place in members.indices where members[place].number == nil {
                let name = members[place].text
                let file = producers.first { $0.stem == rule }
                func finding(_ severity: Diagnostic.Severity, _ message: String) -> Diagnostic {
                    Diagnostic(
                        severity, file: file?.path ?? rule, line: file?.line(of: key),
                        message: "\(key)=\(name): \(message)")
                }
                do throws(SystemError) {
                    members[place].number = try SystemNumber.find(kind, name)
                    guard members[place].number == nil else { continue }
                    findings.append(finding(.warning, "there is no such \(kind) on this machine"))
                } catch {
                    findings.append(finding(.error, "the \(kind) cannot be looked up: \(error)"))
                }
            }
        }
        for place in settings.producers.indices {
            let name = settings.producers[place].name
            lookUp(&settings.producers[place].users, "User", name, .user)
            lookUp(&settings.producers[place].groups, "Group", name, .group)
        }
        return findings
    }

    /// The last line of the main file and its drop-ins that sets a key: only this line counts.
    public func place(of key: String) -> (file: String, line: Int?) {
        for file in main.reversed() { if let line = file.line(of: key) { return (file.path, line) } }
        return ("pushrouterd.conf", nil)
    }
}

/// Returns a path with its symbolic links resolved: up to the first part that this process does not see.
public func resolvingLinks(_ path: String) -> String {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let isSeen = realpath(path, &bytes) != nil
    // realpath(3): after these errors the buffer has the path of the part that was not found.
    guard isSeen || errno == EACCES || errno == ENOENT else { return path }
    return bytes.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}

/// The user of this process, by number and name.
private var ownUser: [String] {
    let name = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) }
    return ["\(geteuid())"] + (name.map { [$0] } ?? [])
}

/// Returns the fault of a secret's file, as far as this user may see it.
///
/// - Parameters:
///   - key: the setting that names the file.
///   - path: the file.
///   - noun: the kind of secret.
///   - reader: the program that reads it, and that refuses it if other users may read it.
///   - consequence: the consequence of a missing file.
private func secretWarning(
    _ key: String, _ path: String, of noun: String, readBy reader: String, without consequence: String
) -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else {
        // EACCES is no fault: the directory may be closed to all but that program.
        return errno == EACCES ? nil : "\(key)=\(path): \(errorText(errno)); \(consequence)"
    }
    guard status.st_mode & 0o077 != 0 else { return nil }
    let mode = String(status.st_mode & 0o777, radix: 8)
    return "\(key)=\(path): its mode is \(mode), so others may read the \(noun); \(reader) refuses it: "
        + "chmod 600 \(path)"
}

/// Returns the first line of a program's file, at most 256 bytes; empty for a file that cannot be read.
private func firstLine(ofProgram path: String) -> ArraySlice<UInt8> {
    guard let file = FileDescriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) else { return [] }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = retryingInterrupts { read(file.rawValue, &bytes, bytes.count) }
    return bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }
}

/// Returns the invisible bytes in the first line of a script that keep it from starting, with a remedy; `nil` if there
/// are none.
public func invisibleBytes(ofProgram path: String) -> String? {
    let line = firstLine(ofProgram: path)
    if line.starts(with: [0xEF, 0xBB, 0xBF]) {
        return
            "the file begins with a byte order mark (EF BB BF), which an editor does not show: sed -i '1s/^\\xEF\\xBB\\xBF//' removes it"
    }
    if line.starts(with: [0xFF, 0xFE]) || line.starts(with: [0xFE, 0xFF]) {
        return "the file is text in UTF-16: iconv -f UTF-16 -t UTF-8 makes it UTF-8"
    }
    let spaces: [(bytes: [UInt8], name: String)] = [
        ([0xE2, 0x80, 0x8B], "a space without width (E2 80 8B)"), ([0xC2, 0xA0], "a no-break space (C2 A0)"),
    ]
    if let space = spaces.first(where: { Array(line).has($0.bytes) }), Array(line).has("#!".utf8) {
        let escaped = space.bytes.map { "\\x" + String($0, radix: 16, uppercase: true) }.joined()
        return
            "its first line has \(space.name), which an editor does not show: sed -i '1s/\(escaped)/ /g; 1s/^ *//' removes it"
    }
    if line.starts(with: "#!".utf8), line.last == UInt8(ascii: "\r") {
        return
            "its first line ends with CR LF, as on Windows, and CR belongs to the name: sed -i 's/\\r$//' removes it"
    }
    return nil
}

extension Handler.Kind {
    /// The program that runs the handler: its own, or the interpreter of a script; `nil` if it has none.
    fileprivate var runtime: String? {
        guard let program = command?.arguments.first else { return nil }
        let line = String(decoding: firstLine(ofProgram: program), as: UTF8.self)
        guard line.hasPrefix("#!") else { return program }
        let words = line.dropFirst(2).split { $0 == " " || $0 == "\t" }
        // "#!/usr/bin/env node", and "#!/usr/bin/env -S node --flag".
        let isSearched = words.first?.hasSuffix("/env") == true
        let interpreter = isSearched ? words.dropFirst().first { !$0.hasPrefix("-") } : words.first
        return interpreter.map(String.init) ?? program
    }

    /// Warnings about a program that cannot be run, a user that does not exist, and the files of a bridge.
    fileprivate var systemWarnings: [String] {
        var warnings: [String] = []
        if let bridge {
            let places = BridgeFile.places(of: bridge.program)
            if bridge.serviceSocket == nil, !places.contains(where: { access($0, X_OK) == 0 }) {
                warnings.append(
                    "Type=\(name): \(bridge.program) is not installed: it is in none of "
                        + places.joined(separator: ", "))
            }
            warnings += bridge.settings.files.compactMap { $0.warning(readBy: bridge.program) }
        }
        if let program = command?.arguments.first, access(program, X_OK) != 0 {
            warnings.append("Exec=\(program): cannot be run: \(errorText(errno))")
        }
        if let program = command?.arguments.first, let bytes = invisibleBytes(ofProgram: program) {
            warnings.append("Exec=\(program): \(bytes)")
        }
        for credential in command?.credentials ?? [] {
            var status = stat()
            // EACCES is no fault: the directory may be closed to all but the daemon.
            if stat(credential.path, &status) != 0 {
                guard errno != EACCES else { continue }
                warnings.append("Credential=\(credential.name):\(credential.path): \(errorText(errno))")
            } else if status.st_mode & 0o007 != 0 {
                warnings.append(
                    "Credential=\(credential.name):\(credential.path): every user may read it: chmod o= \(credential.path)"
                )
            }
        }
        if let user = command?.confinement.user,
            !(UInt32(user).map { getpwuid($0) != nil } ?? (getpwnam(user) != nil))
        {
            warnings.append("User=\(user): there is no such user")
        }
        return warnings
    }
}

extension Bridge.File {
    /// Returns the fault that the program would find, as far as this user may see it.
    fileprivate func warning(readBy program: String) -> String? {
        // A relative place is in the credentials directory, which only the service knows.
        guard place.hasPrefix("/") else { return nil }
        guard !isSecret else {
            return secretWarning(key, place, of: "secret", readBy: program, without: "\(consequence) without it")
        }
        let isThere = access(place, R_OK) == 0 || errno == EACCES
        return isThere ? nil : "\(key)=\(place): \(errorText(errno)); \(consequence)"
    }
}

extension ConfigurationFile {
    /// The last line that sets a key, from 1; `nil`: none does.
    public func line(of key: String) -> Int? {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return lines.lastIndex { line in
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { return false }
            let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
            let start = line[..<equals].drop(while: isSpace)
            return start.starts(with: key.utf8) && start.dropFirst(key.utf8.count).allSatisfy(isSpace)
        }.map { $0 + 1 }
    }
}

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
