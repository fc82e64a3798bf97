import Glibc

/// C code of the tests that must not be linked into any product: libraries to preload, and programs for tests.
///
/// It is compiled on first use, beside the tests. A product of the package would be built in release too, and code in
/// the tests would replace the tests' own libc functions.
enum CompiledC {
    /// The library that simulates a faulty disk for a program.
    static let library = build(
        "libFaultyDisk.so", ["model", "preload"], ["-shared", "-fPIC", "-fvisibility=hidden", "-pthread", "-ldl"])

    /// The library that aborts a program which closes a descriptor that its epoll instance still watches.
    static let watchedDescriptors = build(
        "libWatchedDescriptors.so", sources: [tests + "/WatchedDescriptors/Preload.c"], ["-shared", "-fPIC", "-ldl"])

    /// The program for tests of the faulty disk itself.
    static let script = build("faulty-disk-script", ["script"], [])

    /// The notification service for tests of notifications.
    static let notificationService = build(
        "notification-service",
        sources: [tests + "/Fixtures/notification-service.c"],
        ["-lsystemd"])

    /// Compiles the C files in some folders of `Tests/FaultyDisk`.
    private static func build(_ name: String, _ folders: [String], _ options: [String]) -> String {
        let sources = folders.flatMap { folder in
            names(in: "\(root)/\(folder)").filter { $0.hasSuffix(".c") }.map { "\(root)/\(folder)/\($0)" }
        }
        return build(name, sources: sources, options)
    }

    /// Compiles C files; traps with the compiler's messages on an error.
    private static func build(_ name: String, sources: [String], _ options: [String]) -> String {
        let output = Program.directory + "/" + name
        // The tests of a user without rights there take the file that root's tests have made.
        if access(Program.directory, W_OK) != 0, access(output, R_OK) == 0 { return output }
        // Writes to another name first, because tests of another process may be loading the file.
        let fresh = "\(output).\(getpid())"
        let arguments = [
            "-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-I\(root)/include", "-I\(root)/model",
        ]
        let result = Program(path: compiler).run(arguments + sources + ["-o", fresh] + options)
        precondition(result.end == .exited(0), "\(compiler) cannot compile \(name):\n\(result.errors)")
        precondition(rename(fresh, output) == 0, "cannot rename \(fresh): \(systemReason())")
        return output
    }

    private static let tests = #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/" + $1 }
    private static let root = tests + "/FaultyDisk"

    /// The toolchain's own compiler, which comes with Swift; otherwise the one of `CC` or PATH.
    private static let compiler: String = {
        let named = getenv("CC").map { String(cString: $0) }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        let folders = toolchain + path.split(separator: ":").map(String.init)
        let candidates = folders.flatMap { folder in ["clang", "cc", "gcc"].map { "\(folder)/\($0)" } }
        let found = ([named].compactMap { $0 } + candidates).first { access($0, X_OK) == 0 }
        guard let found else { preconditionFailure("there is no C compiler in \(folders.joined(separator: ", "))") }
        return found
    }()

    /// The folder of the toolchain's programs, found by the path of libswiftCore.so in /proc/self/maps.
    private static var toolchain: [String] {
        let maps = String(decoding: readFile("/proc/self/maps") ?? [], as: UTF8.self)
        let libraries = maps.split(separator: "\n").compactMap { line in line.split(separator: " ").last }
        let end = "/lib/swift/linux/libswiftCore.so"
        return libraries.first { $0.hasSuffix(end) }.map { [$0.dropLast(end.count) + "/bin"] } ?? []
    }
}

extension Program {
    /// A notification service for a private bus; see `Tests/Fixtures/notification-service.c`.
    public static var notificationService: Program { Program(path: CompiledC.notificationService) }

    /// Makes the calls in its arguments, on a faulty disk or not; see `Tests/FaultyDisk/script`.
    public static var faultyDiskScript: Program { Program(path: CompiledC.script) }
}
