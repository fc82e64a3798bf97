// swift-tools-version: 6.2
import PackageDescription

// One settings array for every Swift target: strict, and the same everywhere.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // Release builds are shipped: the target machine needs no Swift runtime.
    .unsafeFlags(["-static-stdlib"], .when(configuration: .release)),
    // Without this flag each program links the regular expression engine, a tenth of its size, for one search in a
    // text.
    .unsafeFlags(
        ["-Xfrontend", "-disable-implicit-string-processing-module-import"], .when(configuration: .release)),
    // Without this flag one ContinuousClock links the concurrency library and libdispatch.
    .unsafeFlags(["-Xfrontend", "-disable-implicit-concurrency-module-import"], .when(configuration: .release)),
    // One section for each function: the linker drops functions that nothing calls.
    .unsafeFlags(["-Xfrontend", "-function-sections"], .when(configuration: .release)),
    // Saves a twelfth of the loop's instructions. The tests run with the checks, and only one thread uses the loop's
    // state.
    .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
]

// Decisions/programs. A megabyte each: names exported as if a program were a library, and relocations as words rather than bits (glibc 2.36).
// And the tables for unwinding with their index: nothing of ours unwinds its own stack, and debuggers follow the frame
// pointers.
let linking: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-static-stdlib", "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
            "-Xlinker", "--no-eh-frame-hdr", "-Xlinker", "--icf=all",
            "-Xlinker", "--version-script=\(Context.packageDirectory)/packaging/no-exports.map",
            "-Xlinker", "-T", "-Xlinker", "\(Context.packageDirectory)/packaging/no-unwinding.ld",
        ], .when(configuration: .release))
]
/// For code that does not limit the throughput of payloads.
let small: [SwiftSetting] = [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// The folders of `Sources`: the folder of a target decides its imports. `Layers.swift` in the tests has the rules.
enum Layer: String {
    /// Pure: imports the standard library only; gets time as an argument; never blocks.
    case core = "Sources/Core"
    /// Adapters, one for each part of the outside world, above what they share. Adapters never import each other.
    case system = "Sources/System"
    case programs = "Sources/Programs"
}

/// A Swift target of this package.
func swift(
    _ layer: Layer, _ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = [], isHot: Bool = true
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "\(layer.rawValue)/\(name)", resources: resources,
        swiftSettings: isHot ? settings : settings + small)
}

/// A C target of this package.
func c(_ name: String) -> Target { .target(name: name, path: "Sources/System/\(name)") }

/// A system library: a module map.
func library(_ name: String, pkgConfig: String, package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

func program(_ name: String, _ dependencies: [Target.Dependency], isHot: Bool = false) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Sources/Programs/\(name)",
        swiftSettings: isHot ? settings : settings + small, linkerSettings: linking)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], _ own: [SwiftSetting] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"], path: "Tests/\(name)",
        swiftSettings: settings + own)
}

/// For tests that search millions of states: ten times faster.
let optimized: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]

let package = Package(
    name: "pushrouterd",
    products: [
        .executable(name: "pushrouterd", targets: ["pushrouterd"]),
        .executable(name: "pushrouterd-fleet", targets: ["pushrouterd-fleet"]),
        .executable(name: "pushctl", targets: ["pushctl"]),
        .executable(name: "pushrouter-forward", targets: ["pushrouter-forward"]),
        .executable(name: "pushrouter-http", targets: ["pushrouter-http"]),
        .executable(name: "pushrouter-metrics", targets: ["pushrouter-metrics"]),
        .executable(name: "pushrouter-gateway", targets: ["pushrouter-gateway"]),
        .executable(name: "pushrouter-web", targets: ["pushrouter-web"]),
    ],
    targets: [
        // Values, the rows that store them, figures, the syntax of settings, and the rules of machines that share one log.
        swift(.core, "PushModel", []),
        // What the daemon decides: dispatch, tracking, custom data and routing.
        swift(.core, "PushRouter", ["PushModel"]),
        // The settings of all programs. providers.d is a symbolic link to etc/pushrouterd/providers.d: the shipped files
        // are compiled in.
        swift(
            .core, "PushSettings", ["PushModel", "PushRouter"], resources: [.embedInCode("providers.d")],
            isHot: false),
        // What people see: reports, explanations, queries, the page, and the catalogue of accidents. No sockets, no HTTP
        // library.
        swift(
            .core, "PushViews", ["PushModel", "PushRouter", "PushSettings"],
            resources: [
                .embedInCode("Web/Assets/page.css"), .embedInCode("Web/Assets/keys.js"),
                .embedInCode("Web/Assets/live.js"), .embedInCode("Web/Assets/icons.svg"),
                .embedInCode("Accidents/Catalogue"), .embedInCode("Conform/cases.jsonl"),
            ], isHot: false),
        // Requests of FCM's and APNs' clients, and their responses: no sockets, no HTTP library.
        swift(.core, "PushGateway", ["PushModel", "PushRouter", "PushSettings"]),

        // System libraries, and C that the Glibc module lacks.
        library("CSystemd", pkgConfig: "libsystemd", package: "libsystemd-dev"),
        library("CSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
        library("CJSON", pkgConfig: "json-c", package: "libjson-c-dev"),
        library("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
        library("CCrypto", pkgConfig: "libcrypto", package: "libssl-dev"),
        library("CPostgreSQL", pkgConfig: "libpq", package: "libpq-dev"),
        library("CTLS", pkgConfig: "openssl", package: "libssl-dev"),
        library("CNGHTTP2", pkgConfig: "libnghttp2", package: "libnghttp2-dev"),
        library("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
        library("CMicroHTTPD", pkgConfig: "libmicrohttpd", package: "libmicrohttpd-dev"),
        c("CLinux"),
        c("CChecksum"),
        // What every program shares: descriptors, loop, sockets, journal, settings files, and the start and end of a
        // program.
        swift(.system, "LinuxSystem", ["CSystemd", "CLinux", "PushModel", "PushRouter", "PushSettings"]),
        swift(.system, "Store", ["CSQLite", "CLinux", "CChecksum", "PushModel", "LinuxSystem"]),
        swift(.system, "HandlerProcess", ["CLinux", "LinuxSystem"]),
        swift(.system, "HTTPClient", ["CCurl", "CLinux", "LinuxSystem"]),
        swift(.system, "HTTPServer", ["CMicroHTTPD", "CLinux", "PushModel", "LinuxSystem"], isHot: false),
        swift(.system, "TLS", ["CTLS"]),
        swift(.system, "HTTP2", ["CNGHTTP2"]),
        swift(.system, "Gzip", ["CZlib"], isHot: false),
        swift(.system, "DBus", ["CSystemd", "PushRouter", "LinuxSystem"], isHot: false),
        swift(.system, "JSONC", ["CJSON", "PushModel"], isHot: false),
        // The engine of a log that machines share: only programs of a fleet need libpq.
        swift(.system, "PostgreSQL", ["CPostgreSQL", "PushModel", "LinuxSystem"], isHot: false),

        // Pushes and reports from the ledger, for programs that may read it.
        swift(.system, "LedgerReports", ["PushModel", "PushRouter", "PushViews", "Store"], isHot: false),

        // Runs handlers: for the daemon, and for a person who tries one.
        swift(
            .system, "HandlerRuns",
            ["PushModel", "PushRouter", "LinuxSystem", "HandlerProcess", "DBus"], isHot: false),

        // The daemon, connected from its parts, and its documentation.
        .target(
            name: "PushDaemon",
            dependencies: [
                "PushModel", "PushRouter", "PushViews", "PushSettings", "LinuxSystem", "Store", "HandlerProcess",
                "HandlerRuns", "DBus",
            ], swiftSettings: settings),
        program("pushrouterd", ["PushDaemon", "LinuxSystem"]),
        // The daemon of a fleet's machine, the only one that needs libpq.
        program(
            "pushrouterd-fleet",
            ["PushModel", "PushViews", "PushSettings", "LinuxSystem", "PostgreSQL", "Store", "PushDaemon"]),
        program(
            "pushctl",
            [
                "CLinux", "PushModel", "PushRouter", "PushViews", "PushSettings", "PushGateway", "LinuxSystem", "Store",
                "HandlerProcess", "HandlerRuns", "LedgerReports", "JSONC",
            ]),
        // HTTP clients are programs of their own: the daemon needs neither network nor key.
        program(
            "pushrouter-forward",
            ["PushModel", "PushRouter", "PushSettings", "LinuxSystem", "HTTPClient", "JSONC"]),
        program(
            "pushrouter-http",
            ["CCrypto", "PushModel", "PushRouter", "PushSettings", "LinuxSystem", "HTTPClient", "HandlerRuns"]),
        // HTTP servers are programs of their own, for the same reason.
        program(
            "pushrouter-metrics",
            ["PushModel", "PushViews", "PushSettings", "LinuxSystem", "HTTPServer"]),
        // Serves unmodified clients of FCM and APNs; the only program that needs libnghttp2 and libssl.
        program(
            "pushrouter-gateway",
            [
                "PushModel", "PushRouter", "PushSettings", "PushGateway", "LinuxSystem", "CLinux", "TLS", "HTTP2",
                "Gzip", "HTTPServer",
            ], isHot: true),
        // The page and its API.
        program(
            "pushrouter-web",
            ["PushModel", "PushViews", "PushSettings", "PushRouter", "LinuxSystem", "HTTPServer", "LedgerReports"]),

        // Tests: one folder for each target.
        // The model of a faulty disk. The tests compile the preloaded library (preload) themselves.
        .target(
            name: "CFaultyDisk", path: "Tests/FaultyDisk", exclude: ["README.md", "preload", "script"],
            sources: ["model"],
            publicHeadersPath: "include", cSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])]),
        .target(
            name: "TestSupport", dependencies: ["CFaultyDisk", "CTestProbe", "PushModel", "PushRouter"],
            path: "Tests/TestSupport", swiftSettings: settings),
        // Overrides functions of libc in the test program: disks that fail, and allocations that are counted.
        .target(name: "CTestProbe", path: "Tests/CTestProbe"),
        tests("FaultyDiskTests", []),
        tests("PushModelTests", ["PushModel", "CJSON"]),
        tests("PushDispatchTests", ["PushModel", "PushRouter", "PushSettings", "PushViews"]),
        tests("GzipTests", ["Gzip"]),
        tests("PushGatewayTests", ["PushModel", "PushRouter", "PushSettings", "PushGateway"]),
        tests("PushTrackingTests", ["PushModel", "PushRouter"]),
        tests("PushCustomDataTests", ["PushModel", "PushRouter", "PushSettings", "pushrouter-forward"]),
        tests("DaemonClientTests", ["PushModel", "LinuxSystem"]),
        tests("JSONCTests", ["PushModel", "JSONC"]),
        tests(
            "PostgreSQLTests",
            ["PushModel", "PushViews", "PostgreSQL", "LinuxSystem", "pushrouterd-fleet"]),
        tests("HTTPClientTests", ["HTTPClient", "CLinux"]),
        tests("HTTPProgramTests", ["PushModel", "PushRouter", "PushSettings", "pushrouter-http"]),
        tests("HTTPServerTests", ["HTTPServer", "LinuxSystem"]),
        tests("TLSTests", ["TLS"]),
        tests(
            "GatewayProgramTests",
            ["PushModel", "PushRouter", "PushSettings", "PushGateway", "HTTPServer", "pushrouter-gateway"]),
        tests("HTTP2Tests", ["HTTP2", "CNGHTTP2"]),
        tests(
            "MetricsTests",
            ["PushModel", "PushViews", "HTTPServer", "LinuxSystem", "pushrouter-metrics"]),
        tests("PushRoutingTests", ["PushModel", "PushRouter", "PushViews"]),
        tests("PushQueryTests", ["PushModel", "PushViews"]),
        tests(
            "PushWebTests",
            ["PushModel", "PushRouter", "PushViews", "PushSettings"]),
        tests("PushFiguresTests", ["PushModel"]),
        tests("PushFleetTests", ["PushModel"], optimized),
        tests("PushReportingTests", ["PushModel", "PushViews"]),
        tests(
            "PushSettingsTests",
            ["PushModel", "PushRouter", "PushSettings"]),
        tests(
            "PushAccidentsTests",
            ["PushModel", "PushRouter", "PushSettings", "PushViews"]),
        tests("PushConformTests", ["PushModel", "PushRouter", "PushSettings", "PushViews"]),
        tests("PushReconcileTests", ["PushModel", "PushRouter", "PushViews"]),
        tests("EventLoopTests", ["PushModel", "LinuxSystem", "CLinux"]),
        tests("UnixSocketsTests", ["LinuxSystem", "CLinux"]),
        tests(
            "StoreTests",
            ["PushModel", "Store", "CLinux", "CSQLite", "LinuxSystem", "PushViews", "PushRouter", "LedgerReports"]),
        // Compares reports from figures with reports from rows.
        tests("ReportReadingTests", ["PushModel", "PushViews", "Store", "LedgerReports"]),
        tests("PushctlTests", ["PushModel", "LinuxSystem", "pushctl"]),
        tests("HandlerProcessTests", ["HandlerProcess", "CLinux", "LinuxSystem"]),
        tests("DBusTests", ["DBus", "LinuxSystem"]),
        tests(
            "HandlerRunsTests",
            ["PushModel", "PushRouter", "HandlerRuns", "HandlerProcess", "LinuxSystem"]),
        tests("JournalLogTests", ["LinuxSystem", "CLinux"]),
        tests(
            "PushDaemonTests",
            [
                "PushModel", "PushRouter", "PushViews", "PushSettings", "LinuxSystem", "Store", "HandlerRuns",
                "PushDaemon",
            ]),
        // The limits of the cost of one delivery.
        tests(
            "BudgetTests",
            ["PushModel", "LinuxSystem", "PushRouter", "PushSettings", "Store"]),
        tests("ArchitectureTests", []),
        tests(
            "EndToEndTests", ["PushModel", "LinuxSystem", "CLinux", "CSQLite", "Store", "CTestProbe"]),
    ]
)
