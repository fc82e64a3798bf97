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
// Nothing of ours unwinds its own stack, so it needs no index for that; debuggers read .eh_frame.
let linking: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-static-stdlib", "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
            "-Xlinker", "--no-eh-frame-hdr", "-Xlinker", "--icf=all",
            "-Xlinker", "--version-script=\(Context.packageDirectory)/packaging/no-exports.map",
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

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Sources/Programs/\(name)", swiftSettings: settings + small,
        linkerSettings: linking)
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
        swift(.core, "PushModel", []),
        swift(.core, "PushDispatch", ["PushModel"]),
        swift(.core, "PushTracking", ["PushModel"]),
        swift(.core, "PushCustomData", ["PushModel"]),
        // The syntax of settings files, and the declaration of their keys.
        swift(.core, "SettingsSyntax", ["PushModel"], isHot: false),
        swift(
            .core, "PushRouting",
            ["PushModel", "PushDispatch", "PushTracking", "PushCustomData", "SettingsSyntax"]),
        swift(.core, "PushFigures", ["PushModel"]),
        // The rules of machines that write one shared log, and the protocol of its engine.
        swift(.core, "PushFleet", ["PushModel"], isHot: false),
        swift(.core, "PushReporting", ["PushModel", "PushFigures"], isHot: false),
        // The query language, and the story of a request for people and programs.
        swift(
            .core, "PushQuery", ["PushModel", "PushDispatch", "PushFigures", "PushReporting", "SettingsSyntax"],
            isHot: false),
        // The page: routes, access, views and the live stream. No sockets, no HTTP library.
        swift(
            .core, "PushWeb",
            [
                "PushModel", "PushDispatch", "PushHosts", "PushQuery", "PushReporting", "PushRouting", "SettingsSyntax",
            ],
            resources: [
                .embedInCode("Assets/page.css"), .embedInCode("Assets/keys.js"), .embedInCode("Assets/live.js"),
            ], isHot: false),
        // The parts of a bridge's handler file, and the lines between the daemon and the bridge: one target for each
        // bridge.
        swift(.core, "HTTPBridge", ["PushModel", "PushRouting", "SettingsSyntax"]),
        // Requests of FCM's and APNs' clients, and their responses: no sockets, no HTTP library.
        swift(.core, "PushGateway", ["PushModel", "PushDispatch", "PushHosts"]),
        // The addresses and variables with which FCM's and APNs' clients use a gateway; the settings of gateway and page.
        swift(.core, "PushHosts", ["PushModel", "SettingsSyntax"], isHot: false),
        // providers.d is a symbolic link to etc/pushrouterd/providers.d: the shipped files are compiled in.
        swift(
            .core, "PushSettings",
            [
                "PushModel", "PushDispatch", "PushTracking", "PushCustomData", "SettingsSyntax", "PushRouting",
                "HTTPBridge",
            ],
            resources: [.embedInCode("providers.d")], isHot: false),
        // The catalogue of accidents, compiled in.
        swift(
            .core, "PushAccidents", ["PushModel", "PushDispatch", "PushRouting"],
            resources: [.embedInCode("Catalogue")], isHot: false),

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
        swift(.system, "LinuxSystem", ["CLinux"]),
        swift(.system, "EventLoop", ["CSystemd", "PushModel", "PushFigures", "LinuxSystem"]),
        swift(.system, "UnixSockets", ["CLinux", "LinuxSystem"]),
        swift(
            .system, "Store",
            ["CSQLite", "CLinux", "CChecksum", "PushModel", "PushFigures", "PushFleet", "LinuxSystem"]),
        swift(.system, "HandlerProcess", ["CLinux", "LinuxSystem"]),
        swift(.system, "JournalLog", ["CSystemd", "PushModel", "LinuxSystem"]),
        swift(.system, "HTTPClient", ["CCurl", "CLinux", "LinuxSystem"]),
        swift(.system, "HTTPServer", ["CMicroHTTPD", "LinuxSystem"], isHot: false),
        swift(.system, "TLS", ["CTLS"], isHot: false),
        swift(.system, "HTTP2", ["CNGHTTP2"], isHot: false),
        swift(.system, "Gzip", ["CZlib"], isHot: false),
        swift(.system, "DBus", ["CSystemd", "PushRouting", "LinuxSystem"], isHot: false),
        swift(.system, "JSONC", ["CJSON", "PushModel"], isHot: false),
        // The engine of a log that machines share: only programs of a fleet need libpq.
        swift(.system, "PostgreSQL", ["CPostgreSQL", "PushModel", "PushFleet", "LinuxSystem"], isHot: false),
        swift(
            .system, "SettingsFiles", ["PushModel", "SettingsSyntax", "PushRouting", "PushSettings", "LinuxSystem"],
            isHot: false),

        // The start and the end of a program.
        swift(
            .system, "ServiceProgram",
            ["PushModel", "PushSettings", "LinuxSystem", "EventLoop", "JournalLog", "SettingsFiles"], isHot: false),

        // Shared by programs that talk to the daemon.
        swift(.system, "DaemonClient", ["PushModel", "LinuxSystem", "UnixSockets"], isHot: false),

        // Reports from the ledger, for programs that may read it.
        swift(
            .system, "LedgerReports",
            ["PushModel", "PushDispatch", "PushFigures", "PushReporting", "PushRouting", "Store"], isHot: false),

        // Pushes from the ledger, for programs that search them.
        swift(
            .system, "LedgerSource",
            ["PushModel", "PushQuery", "PushReporting", "PushRouting", "PushDispatch", "Store", "LedgerReports"],
            isHot: false),

        // The sockets of services that clients connect to.
        swift(
            .system, "ServiceSockets",
            ["CLinux", "LinuxSystem", "EventLoop", "UnixSockets", "HTTPServer", "SettingsSyntax", "SettingsFiles"],
            isHot: false),

        // Shared by programs that send HTTP requests.
        swift(.system, "HTTPSending", ["EventLoop", "HTTPClient", "LinuxSystem", "CLinux"]),

        // Runs handlers: for the daemon, and for a person who tries one.
        swift(
            .system, "HandlerRuns",
            [
                "PushModel", "PushRouting", "LinuxSystem", "EventLoop", "UnixSockets", "HandlerProcess",
                "DBus", "JournalLog",
            ], isHot: false),

        // The daemon, connected from its parts, and its documentation.
        .target(
            name: "PushDaemon",
            dependencies: [
                "PushModel", "PushTracking", "PushCustomData", "SettingsSyntax", "PushRouting", "PushFleet",
                "PushFigures",
                "PushReporting", "PushSettings", "LinuxSystem", "EventLoop", "UnixSockets", "Store", "HandlerProcess",
                "HandlerRuns", "JournalLog", "SettingsFiles", "DBus",
            ], swiftSettings: settings),
        program("pushrouterd", ["PushDaemon", "ServiceProgram"]),
        // The daemon of a fleet's machine, the only one that needs libpq.
        program(
            "pushrouterd-fleet",
            [
                "PushModel", "PushFleet", "PushReporting", "PushSettings", "LinuxSystem", "SettingsSyntax",
                "SettingsFiles", "PostgreSQL", "Store", "PushDaemon", "ServiceProgram",
            ]),
        program(
            "pushctl",
            [
                "CLinux",
                "PushModel", "PushDispatch", "PushTracking", "PushCustomData", "PushRouting", "PushFigures",
                "PushReporting", "PushQuery", "SettingsSyntax", "HTTPBridge", "PushHosts", "PushSettings",
                "PushAccidents",
                "LinuxSystem",
                "EventLoop", "Store",
                "UnixSockets", "HandlerProcess", "HandlerRuns", "JournalLog", "SettingsFiles", "DaemonClient",
                "LedgerReports", "JSONC",
            ]),
        // HTTP clients are programs of their own: the daemon needs neither network nor key.
        program(
            "pushrouter-forward",
            [
                "PushModel", "PushCustomData", "PushSettings", "LinuxSystem", "EventLoop", "HTTPClient", "HTTPSending",
                "JournalLog", "SettingsFiles", "ServiceProgram", "DaemonClient", "JSONC",
            ]),
        program(
            "pushrouter-http",
            [
                "CCrypto", "PushModel", "PushRouting", "HTTPBridge", "PushSettings", "LinuxSystem", "EventLoop",
                "UnixSockets", "HTTPClient", "HTTPSending", "HandlerRuns", "JournalLog", "SettingsFiles",
                "ServiceProgram",
            ]),
        // HTTP servers are programs of their own, for the same reason.
        program(
            "pushrouter-metrics",
            [
                "PushModel", "PushReporting", "PushSettings", "LinuxSystem", "EventLoop", "HTTPServer", "JournalLog",
                "SettingsFiles", "ServiceProgram", "DaemonClient",
            ]),
        // Serves unmodified clients of FCM and APNs; the only program that needs libnghttp2 and libssl.
        program(
            "pushrouter-gateway",
            [
                "PushModel", "PushDispatch", "PushHosts", "PushGateway", "PushSettings", "SettingsSyntax",
                "LinuxSystem",
                "EventLoop", "CLinux", "UnixSockets", "TLS", "HTTP2", "Gzip", "HTTPServer", "JournalLog",
                "SettingsFiles",
                "ServiceProgram", "ServiceSockets",
                "DaemonClient",
            ]),
        // The page and its API.
        program(
            "pushrouter-web",
            [
                "PushModel", "PushQuery", "PushHosts", "PushWeb", "PushRouting", "PushSettings", "SettingsSyntax",
                "LinuxSystem", "EventLoop", "HTTPServer", "JournalLog", "SettingsFiles", "ServiceProgram",
                "ServiceSockets", "DaemonClient", "LedgerSource",
            ]),

        // Tests: one folder for each target.
        // The model of a faulty disk. The tests compile the preloaded library (preload) themselves.
        .target(
            name: "CFaultyDisk", path: "Tests/FaultyDisk", exclude: ["README.md", "preload", "script"],
            sources: ["model"],
            publicHeadersPath: "include", cSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])]),
        .target(
            name: "TestSupport", dependencies: ["CFaultyDisk", "CTestProbe", "PushModel", "PushTracking", "PushFleet"],
            path: "Tests/TestSupport", swiftSettings: settings),
        // Overrides functions of libc in the test program: disks that fail, and allocations that are counted.
        .target(name: "CTestProbe", path: "Tests/CTestProbe"),
        tests("FaultyDiskTests", []),
        tests("PushModelTests", ["PushModel", "CJSON"]),
        tests("PushDispatchTests", ["PushModel", "PushDispatch", "PushRouting", "PushSettings"]),
        tests("GzipTests", ["Gzip"]),
        tests("PushGatewayTests", ["PushModel", "PushDispatch", "PushHosts", "SettingsSyntax", "PushGateway"]),
        tests("PushTrackingTests", ["PushModel", "PushTracking"]),
        tests("PushCustomDataTests", ["PushModel", "PushCustomData", "pushrouter-forward"]),
        tests("DaemonClientTests", ["PushModel", "UnixSockets", "DaemonClient"]),
        tests("JSONCTests", ["PushModel", "JSONC"]),
        tests(
            "PostgreSQLTests",
            ["PushModel", "PushFleet", "PushReporting", "PostgreSQL", "LinuxSystem", "pushrouterd-fleet"]),
        tests("HTTPClientTests", ["HTTPClient", "CLinux"]),
        tests("HTTPProgramTests", ["PushModel", "PushRouting", "HTTPBridge", "pushrouter-http"]),
        tests("HTTPServerTests", ["HTTPServer", "LinuxSystem"]),
        tests("TLSTests", ["TLS"]),
        tests("GatewayProgramTests", ["ServiceSockets", "pushrouter-gateway"]),
        tests("HTTP2Tests", ["HTTP2"]),
        tests(
            "MetricsTests",
            [
                "PushModel", "PushReporting", "HTTPServer", "JournalLog", "SettingsFiles", "ServiceProgram",
                "DaemonClient", "pushrouter-metrics",
            ]),
        tests("PushRoutingTests", ["PushModel", "PushDispatch", "PushTracking", "PushCustomData", "PushRouting"]),
        tests("PushQueryTests", ["PushModel", "PushQuery"]),
        tests(
            "PushWebTests",
            [
                "PushModel", "PushDispatch", "PushTracking", "PushQuery", "PushReporting", "PushRouting",
                "PushSettings", "PushWeb",
            ]),
        tests("PushFiguresTests", ["PushModel", "PushFigures"]),
        tests("PushFleetTests", ["PushModel", "PushFleet"], optimized),
        tests("PushReportingTests", ["PushModel", "PushFigures", "PushReporting"]),
        tests(
            "PushSettingsTests",
            [
                "PushModel", "PushDispatch", "PushTracking", "PushCustomData", "SettingsSyntax", "PushRouting",
                "HTTPBridge", "PushSettings",
            ]),
        tests(
            "PushAccidentsTests",
            [
                "PushModel", "PushDispatch", "PushTracking", "SettingsSyntax", "PushRouting", "PushSettings",
                "PushAccidents",
            ]),
        tests("EventLoopTests", ["PushFigures", "EventLoop", "CLinux", "LinuxSystem"]),
        tests("UnixSocketsTests", ["UnixSockets", "CLinux", "LinuxSystem"]),
        tests(
            "StoreTests",
            [
                "PushModel", "PushFleet", "Store", "CLinux", "CSQLite", "LinuxSystem", "PushQuery", "PushReporting",
                "PushRouting", "LedgerSource",
            ]),
        // Compares reports from figures with reports from rows.
        tests("ReportReadingTests", ["PushModel", "PushFigures", "PushReporting", "Store", "LedgerReports"]),
        tests("PushctlTests", ["PushModel", "UnixSockets", "pushctl"]),
        tests("HandlerProcessTests", ["HandlerProcess", "CLinux", "LinuxSystem"]),
        tests("DBusTests", ["DBus", "LinuxSystem"]),
        tests(
            "HandlerRunsTests",
            [
                "PushModel", "PushRouting", "HandlerRuns", "HandlerProcess", "JournalLog", "EventLoop", "LinuxSystem",
                "UnixSockets",
            ]),
        tests("JournalLogTests", ["JournalLog", "CLinux"]),
        tests(
            "PushDaemonTests",
            [
                "PushModel", "PushTracking", "PushCustomData", "PushRouting", "PushReporting", "PushSettings",
                "LinuxSystem", "JournalLog", "PushFleet",
                "EventLoop", "UnixSockets", "Store", "HandlerRuns", "PushDaemon",
            ]),
        // The limits of the cost of one delivery.
        tests(
            "BudgetTests",
            ["PushModel", "LinuxSystem", "PushTracking", "PushCustomData", "PushRouting", "PushSettings", "Store"]),
        tests("ArchitectureTests", []),
        tests(
            "EndToEndTests", ["PushModel", "LinuxSystem", "UnixSockets", "CLinux", "CSQLite", "Store", "CTestProbe"]),
    ]
)
