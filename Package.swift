// swift-tools-version: 6.2
import PackageDescription

// One settings array for every Swift target: strict, and the same everywhere.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // What `swift build -c release` gives is what is shipped: no Swift runtime needed on the target.
    .unsafeFlags(["-static-stdlib"], .when(configuration: .release)),
    // A twelfth of the loop's instructions. The tests run with the checks, and the loop's state is one thread's.
    .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
]

let linking: [LinkerSetting] = [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]

/// A target of the package's own Swift code.
func swift(
    _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [], resources: [Resource] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, exclude: exclude, resources: resources, swiftSettings: settings)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, swiftSettings: settings, linkerSettings: linking)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"], path: "Tests/\(name)", swiftSettings: settings)
}

let package = Package(
    name: "pushrouterd",
    products: [
        .executable(name: "pushrouterd", targets: ["pushrouterd"]),
        .executable(name: "pushctl", targets: ["pushctl"]),
        .executable(name: "pushrouter-forward", targets: ["pushrouter-forward"]),
    ],
    targets: [
        // System libraries, and what the Glibc import lacks.
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(name: "CLinux"),
        .target(name: "CChecksum"),

        // What the adapters have in common of the system: descriptors, threads, clocks, error numbers.
        swift("LinuxSystem", ["CLinux"]),

        // Pure: the standard library only; time is an argument; nothing here can block.
        swift("PushModel"),
        swift("PushDispatch", ["PushModel"]),
        swift("PushTracking", ["PushModel"]),
        swift("PushCustomData", ["PushModel"]),
        swift("PushRouting", ["PushModel", "PushDispatch", "PushTracking", "PushCustomData"]),
        swift("PushReporting", ["PushModel"]),
        swift("PushForwarding", ["PushModel"]),
        // The link providers.d leads to etc/pushrouterd/providers.d: what is shipped is compiled in.
        swift(
            "PushSettings",
            ["PushModel", "PushDispatch", "PushTracking", "PushCustomData", "PushRouting", "PushForwarding"],
            resources: [.embedInCode("providers.d")]),
        swift("PushProtocol", ["PushModel", "PushCustomData", "PushRouting"]),
        swift(
            "PushSimulation",
            ["PushModel", "PushDispatch", "PushTracking", "PushCustomData", "PushRouting", "PushProtocol"]),

        // Adapters: one thing of the outside world each; they never import each other.
        swift("EventLoop", ["CSystemd", "LinuxSystem"]),
        swift("UnixSockets", ["CLinux", "LinuxSystem"]),
        swift("Store", ["CSQLite", "CLinux", "CChecksum", "PushModel", "LinuxSystem"]),
        swift("HandlerProcess", ["CLinux", "LinuxSystem"]),
        swift("JournalLog", ["CSystemd", "CLinux", "LinuxSystem"]),
        swift("HTTPClient", ["CCurl", "CLinux"]),
        swift("SettingsFiles", ["PushRouting", "PushSettings"]),

        // Composition.
        swift(
            "PushDaemon",
            [
                "PushModel", "PushTracking", "PushCustomData", "PushRouting", "PushSettings", "PushProtocol",
                "LinuxSystem", "EventLoop", "UnixSockets", "Store", "HandlerProcess", "JournalLog", "SettingsFiles",
            ]),
        program("pushrouterd", ["PushDaemon", "PushModel", "PushSettings"]),
        program(
            "pushctl",
            [
                "PushModel", "PushDispatch", "PushTracking", "PushCustomData", "PushRouting", "PushReporting",
                "PushSettings", "PushForwarding", "PushProtocol", "PushSimulation", "Store", "UnixSockets",
                "SettingsFiles",
            ]),
        // What speaks HTTP is a program of its own: the daemon needs neither network nor key.
        program(
            "pushrouter-forward",
            [
                "PushModel", "PushCustomData", "PushForwarding", "PushSettings", "PushProtocol", "LinuxSystem",
                "EventLoop", "HTTPClient", "JournalLog", "UnixSockets", "SettingsFiles", "CLinux",
            ]),

        // Tests: one folder a target. json-c is only an oracle for the scan's tests.
        .systemLibrary(
            name: "CJSON", path: "Tests/CJSON", pkgConfig: "json-c", providers: [.apt(["libjson-c-dev"])]),
        // What the tests do to a disk. The library that is preloaded (preload) is compiled by them.
        .target(
            name: "CFaultyDisk", path: "Tests/FaultyDisk", exclude: ["README.md", "preload", "script"],
            sources: ["model"],
            publicHeadersPath: "include", cSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])]),
        .target(
            name: "TestSupport", dependencies: ["CFaultyDisk", "CTestProbe", "PushModel", "PushTracking"],
            path: "Tests/TestSupport", swiftSettings: settings),
        // Stands before some of libc's functions in the test program: disks that fail, allocations that are counted.
        .target(name: "CTestProbe", path: "Tests/CTestProbe"),
        tests("FaultyDiskTests", []),
        tests("PushModelTests", ["PushModel", "CJSON"]),
        tests("PushDispatchTests", ["PushModel", "PushDispatch", "PushRouting", "PushSettings"]),
        tests("PushTrackingTests", ["PushModel", "PushTracking"]),
        tests("PushCustomDataTests", ["PushModel", "PushCustomData"]),
        tests("PushForwardingTests", ["PushModel", "PushForwarding"]),
        tests("HTTPClientTests", ["HTTPClient", "CLinux"]),
        tests("PushRoutingTests", ["PushModel", "PushDispatch", "PushTracking", "PushCustomData", "PushRouting"]),
        tests("PushReportingTests", ["PushModel", "PushReporting"]),
        tests(
            "PushSettingsTests",
            [
                "PushModel", "PushDispatch", "PushTracking", "PushCustomData", "PushRouting", "PushForwarding",
                "PushSettings",
            ]),
        tests("PushProtocolTests", ["PushModel", "PushCustomData", "PushRouting", "PushProtocol"]),
        tests(
            "PushSimulationTests",
            ["PushModel", "PushTracking", "PushCustomData", "PushRouting", "PushProtocol", "PushSimulation"]),
        tests("EventLoopTests", ["EventLoop", "CLinux", "LinuxSystem"]),
        tests("UnixSocketsTests", ["UnixSockets", "CLinux", "LinuxSystem"]),
        tests("StoreTests", ["PushModel", "Store", "CLinux"]),
        tests("HandlerProcessTests", ["HandlerProcess", "CLinux", "LinuxSystem"]),
        tests("JournalLogTests", ["JournalLog", "CLinux"]),
        tests(
            "PushDaemonTests",
            [
                "PushModel", "PushRouting", "PushSettings", "PushProtocol", "JournalLog", "EventLoop", "UnixSockets",
                "Store", "PushDaemon",
            ]),
        // What one delivery may cost.
        tests(
            "BudgetTests",
            ["PushModel", "PushTracking", "PushCustomData", "PushRouting", "PushSettings", "PushProtocol", "Store"]),
        tests("ArchitectureTests", []),
        tests("EndToEndTests", ["PushModel", "UnixSockets", "CLinux", "CSQLite", "Store", "CTestProbe"]),
    ]
)
