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
    // Else each program has the engine of regular expressions, a tenth of it, for a search in a text.
    .unsafeFlags(
        ["-Xfrontend", "-disable-implicit-string-processing-module-import"], .when(configuration: .release)),
    // Else one ContinuousClock brings the concurrency library and libdispatch.
    .unsafeFlags(["-Xfrontend", "-disable-implicit-concurrency-module-import"], .when(configuration: .release)),
    // What nothing calls is left out by the linker.
    .unsafeFlags(["-Xfrontend", "-function-sections"], .when(configuration: .release)),
    // A twelfth of the loop's instructions. The tests run with the checks, and the loop's state is one thread's.
    .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
]

// 0080. A megabyte each: names exported as if a program were a library, and relocations as words rather than bits (glibc 2.36).
// Nothing of ours unwinds its own stack, so it needs no index for that; debuggers read .eh_frame.
let linking: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-static-stdlib", "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
            "-Xlinker", "--no-eh-frame-hdr", "-Xlinker", "--icf=all",
            "-Xlinker", "--version-script=\(Context.packageDirectory)/packaging/no-exports.map",
        ], .when(configuration: .release))
]
/// For code that does not decide how fast a payload goes.
let small: [SwiftSetting] = [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// The folders of `Sources`: a target's folder says what it may import. `Layers.swift` in the tests holds the rules.
enum Layer: String {
    /// Pure: the standard library only; time is an argument; nothing here can block.
    case core = "Sources/Core"
    /// One thing of the outside world each; below them what they have in common. They do not know each other.
    case system = "Sources/System"
    case programs = "Sources/Programs"
}

/// A target of the package's own Swift code.
func swift(
    _ layer: Layer, _ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = [], isHot: Bool = true
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "\(layer.rawValue)/\(name)", resources: resources,
        swiftSettings: isHot ? settings : settings + small)
}

/// C of the package's own.
func c(_ name: String) -> Target { .target(name: name, path: "Sources/System/\(name)") }

/// A library of the system: a module map.
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

/// For tests that search millions of states: ten times as many in the same time.
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
        // What files say: their syntax, and keys that are declared once.
        swift(.core, "SettingsSyntax", ["PushModel"], isHot: false),
        swift(
            .core, "PushRouting",
            ["PushModel", "PushDispatch", "PushTracking", "PushCustomData", "SettingsSyntax"]),
        swift(.core, "PushFigures", ["PushModel"]),
        // The rules of several machines that write one chain of batches, and the seam to the engine that has it.
        swift(.core, "PushFleet", ["PushModel"], isHot: false),
        swift(.core, "PushReporting", ["PushModel", "PushFigures"], isHot: false),
        // The query language, and the story of a request as people and programs read it.
        swift(
            .core, "PushQuery", ["PushModel", "PushDispatch", "PushFigures", "PushReporting", "SettingsSyntax"],
            isHot: false),
        // The page: routes, access, views and the live stream. No sockets, no HTTP library.
        swift(
            .core, "PushWeb",
            [
                "PushModel", "PushDispatch", "PushQuery", "PushReporting", "PushRouting", "SettingsSyntax",
            ],
            resources: [
                .embedInCode("Assets/page.css"), .embedInCode("Assets/keys.js"), .embedInCode("Assets/live.js"),
            ], isHot: false),
        // What a bridge's handlers say, and what its program makes of their lines: a target each.
        swift(.core, "HTTPBridge", ["PushModel", "PushRouting", "SettingsSyntax"]),
        // What clients of FCM and APNs ask, and what they are answered: no sockets, no HTTP library.
        swift(.core, "PushGateway", ["PushModel", "PushDispatch", "PushHosts"]),
        // What clients of FCM and APNs must know to use a gateway.
        swift(.core, "PushHosts", ["PushModel", "SettingsSyntax"], isHot: false),
        // The link providers.d leads to etc/pushrouterd/providers.d: what is shipped is compiled in.
        swift(
            .core, "PushSettings",
            [
                "PushModel", "PushDispatch", "PushTracking", "PushCustomData", "SettingsSyntax", "PushRouting",
                "HTTPBridge",
            ],
            resources: [.embedInCode("providers.d")], isHot: false),
        // The catalogue of accidents, which is compiled in.
        swift(
            .core, "PushAccidents", ["PushModel", "PushDispatch", "PushRouting"],
            resources: [.embedInCode("Catalogue")], isHot: false),

        // Libraries, and what the Glibc import lacks.
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
        // The engine that several machines share: only programs of a fleet need libpq.
        swift(.system, "PostgreSQL", ["CPostgreSQL", "PushModel", "PushFleet", "LinuxSystem"], isHot: false),
        swift(
            .system, "SettingsFiles", ["PushModel", "SettingsSyntax", "PushRouting", "PushSettings", "LinuxSystem"],
            isHot: false),

        // What programs begin and end with.
        swift(
            .system, "ServiceProgram",
            ["PushModel", "PushSettings", "LinuxSystem", "EventLoop", "JournalLog", "SettingsFiles"], isHot: false),

        // What programs have in common that talk to the daemon.
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

        // What programs have in common that speak HTTP.
        swift(.system, "HTTPSending", ["EventLoop", "HTTPClient", "LinuxSystem", "CLinux"]),

        // Runs handlers: for the daemon, and for who tries one out.
        swift(
            .system, "HandlerRuns",
            [
                "PushModel", "PushRouting", "LinuxSystem", "EventLoop", "UnixSockets", "HandlerProcess",
                "DBus", "JournalLog",
            ], isHot: false),

        // The daemon, wired together, and its documentation.
        .target(
            name: "PushDaemon",
            dependencies: [
                "PushModel", "PushTracking", "PushCustomData", "SettingsSyntax", "PushRouting", "PushFleet",
                "PushFigures",
                "PushReporting", "PushSettings", "LinuxSystem", "EventLoop", "UnixSockets", "Store", "HandlerProcess",
                "HandlerRuns", "JournalLog", "SettingsFiles", "DBus",
            ], swiftSettings: settings),
        program("pushrouterd", ["PushDaemon", "ServiceProgram"]),
        // The daemon on one of several machines: it alone needs libpq.
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
        // What speaks HTTP is a program of its own: the daemon needs neither network nor key.
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
        // What serves HTTP is a program of its own, for the same reason.
        program(
            "pushrouter-metrics",
            [
                "PushModel", "PushReporting", "PushSettings", "LinuxSystem", "EventLoop", "HTTPServer", "JournalLog",
                "SettingsFiles", "ServiceProgram", "DaemonClient",
            ]),
        // Unmodified clients of FCM and APNs send to it; it alone needs libnghttp2 and libssl.
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
                "PushModel", "PushQuery", "PushWeb", "PushRouting", "PushSettings", "SettingsSyntax",
                "LinuxSystem", "EventLoop", "HTTPServer", "UnixSockets", "JournalLog", "SettingsFiles",
                "ServiceProgram",
                "ServiceSockets", "DaemonClient", "LedgerSource",
            ]),

        // Tests: one folder a target.
        // What the tests do to a disk. The library that is preloaded (preload) is compiled by them.
        .target(
            name: "CFaultyDisk", path: "Tests/FaultyDisk", exclude: ["README.md", "preload", "script"],
            sources: ["model"],
            publicHeadersPath: "include", cSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])]),
        .target(
            name: "TestSupport", dependencies: ["CFaultyDisk", "CTestProbe", "PushModel", "PushTracking", "PushFleet"],
            path: "Tests/TestSupport", swiftSettings: settings),
        // Stands before some of libc's functions in the test program: disks that fail, allocations that are counted.
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
        // Reports from figures beside reports from rows.
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
        // What one delivery may cost.
        tests(
            "BudgetTests",
            ["PushModel", "PushTracking", "PushCustomData", "PushRouting", "PushSettings", "Store"]),
        tests("ArchitectureTests", []),
        tests(
            "EndToEndTests", ["PushModel", "LinuxSystem", "UnixSockets", "CLinux", "CSQLite", "Store", "CTestProbe"]),
    ]
)
