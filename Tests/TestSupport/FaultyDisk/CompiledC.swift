import Glibc

/// C of the tests' own that must not be linked into anything: a library to preload, and the program that its tests run.
///
/// It is compiled beside the tests when it is first asked for. As a product of the package it would be built in release
/// too, and as part of the tests it would put itself in the place of libc's functions there.
enum CompiledC {
    /// The library that makes a program live on a faulty disk.
    static let library = build(
        "libFaultyDisk.so", ["model", "preload"], ["-shared", "-fPIC", "-fvisibility=hidden", "-pthread", "-ldl"])

    /// The library that ends a program which closes a descriptor that it watches.
    static let watchedDescriptors = build(
        "libWatchedDescriptors.so", sources: [tests + "/WatchedDescriptors/Preload.c"], ["-shared", "-fPIC", "-ldl"])

    /// The program that the disk's own tests run.
    static let script = build("faulty-disk-script", ["script"], [])

    /// The notification service that tests of notifications talk to.
    static let notificationService = build(
        "notification-service",
        sources: [tests + "/Fixtures/notification-service.c"],
        ["-lsystemd"])

    /// Compiles the C files of some folders of `Tests/FaultyDisk`.
    private static func build(_ name: String, _ folders: [String], _ options: [String]) -> String {
        let sources = folders.flatMap { folder in
            names(in: "\(root)/\(folder)").filter { $0.hasSuffix(".c") }.map { "\(root)/\(folder)/\($0)" }
        }
        return build(name, sources: sources, options)
    }

    /// Compiles C files; traps with the compiler's words when it cannot.
    private static func build(_ name: String, sources: [String], _ options: [String]) -> String {
        let output = Program.directory + "/" + name
        // Under another name first: tests of another process may be loading it.
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

    /// The toolchain's own compiler, which is wherever Swift is; else what `CC` says or the path has.
    private static let compiler: String = {
        let named = getenv("CC").map { String(cString: $0) }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        let folders = toolchain + path.split(separator: ":").map(String.init)
        let candidates = folders.flatMap { folder in ["clang", "cc", "gcc"].map { "\(folder)/\($0)" } }
        let found = ([named].compactMap { $0 } + candidates).first { access($0, X_OK) == 0 }
        guard let found else { preconditionFailure("there is no C compiler in \(folders.joined(separator: ", "))") }
        return found
    }()

    /// The folder of the toolchain's programs, found by the library that the tests run with.
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

    /// Makes the calls that its arguments say, on a disk or not; see `Tests/FaultyDisk/script`.
    public static var faultyDiskScript: Program { Program(path: CompiledC.script) }
}
