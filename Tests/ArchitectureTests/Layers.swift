/// The layer of a target; it decides the allowed imports.
enum Layer: Int, Comparable {
    /// A module map over a system library, or C of our own.
    case c
    /// The standard library only; time is an argument; nothing can block.
    case pure
    /// System facilities that the adapters share.
    case system
    /// A facade of one external facility; adapters never import each other.
    case adapter
    /// Code on top of adapters that several programs need.
    case shared
    /// A source of rows for programs, behind a protocol of the core.
    case source
    /// Wires the other targets.
    case composition

    static func < (left: Layer, right: Layer) -> Bool { left.rawValue < right.rawValue }
}

/// One target's folder below `Sources`: its layer, and the targets of this package that it may import.
struct TargetRule {
    let name: String
    let layer: Layer
    let imports: Set<String>

    init(_ name: String, _ layer: Layer, _ imports: Set<String> = []) {
        self.name = name
        self.layer = layer
        self.imports = imports
    }

    /// The folder of the target, which shows its layer.
    var folder: String {
        switch layer {
        case .pure: "Sources/Core/\(name)"
        case .c, .system, .adapter, .shared, .source: "Sources/System/\(name)"
        // The daemon's documentation has a fixed place.
        case .composition: name == "PushDaemon" ? "Sources/PushDaemon" : "Sources/Programs/\(name)"
        }
    }

    /// The system modules that it may import. Foundation is in no layer.
    var systemModules: Set<String> {
        switch layer {
        case .c, .pure: []
        case .system, .adapter, .shared, .source, .composition: ["Glibc", "Synchronization"]
        }
    }
}

/// The diagram of the layers: a target imports only what is above it.
let layers = [
    TargetRule("CSystemd", .c),
    TargetRule("CSQLite", .c),
    TargetRule("CJSON", .c),
    TargetRule("CCurl", .c),
    TargetRule("CMicroHTTPD", .c),
    TargetRule("CPostgreSQL", .c),
    TargetRule("CCrypto", .c),
    TargetRule("CTLS", .c),
    TargetRule("CNGHTTP2", .c),
    TargetRule("CZlib", .c),
    TargetRule("CLinux", .c),
    TargetRule("CChecksum", .c),

    TargetRule("PushModel", .pure),
    TargetRule("PushDispatch", .pure, ["PushModel"]),
    TargetRule("PushTracking", .pure, ["PushModel"]),
    TargetRule("PushCustomData", .pure, ["PushModel"]),
    TargetRule("SettingsSyntax", .pure, ["PushModel"]),
    TargetRule(
        "PushRouting", .pure, ["PushModel", "PushDispatch", "PushTracking", "PushCustomData", "SettingsSyntax"]),
    TargetRule("PushFigures", .pure, ["PushModel"]),
    TargetRule("PushReporting", .pure, ["PushModel", "PushFigures"]),
    TargetRule("PushFleet", .pure, ["PushModel"]),
    TargetRule("PushHosts", .pure, ["PushModel", "SettingsSyntax"]),
    TargetRule("PushGateway", .pure, ["PushModel", "PushDispatch", "PushHosts"]),
    TargetRule(
        "PushQuery", .pure, ["PushModel", "PushDispatch", "PushFigures", "PushReporting", "SettingsSyntax"]),
    TargetRule(
        "PushWeb", .pure,
        ["PushModel", "PushDispatch", "PushHosts", "PushQuery", "PushReporting", "PushRouting", "SettingsSyntax"]),
    TargetRule("HTTPBridge", .pure, ["PushModel", "PushRouting", "SettingsSyntax"]),
    TargetRule(
        "PushSettings", .pure,
        [
            "PushModel", "PushDispatch", "PushTracking", "PushCustomData", "SettingsSyntax", "PushRouting",
            "HTTPBridge",
        ]),

    TargetRule("PushAccidents", .pure, ["PushModel", "PushDispatch", "PushRouting"]),

    TargetRule("LinuxSystem", .system, ["CLinux"]),

    TargetRule("EventLoop", .adapter, ["CSystemd", "PushModel", "PushFigures", "LinuxSystem"]),
    TargetRule("UnixSockets", .adapter, ["CLinux", "LinuxSystem"]),
    TargetRule(
        "Store", .adapter,
        ["CSQLite", "CLinux", "CChecksum", "PushModel", "PushFigures", "PushFleet", "LinuxSystem"]),
    TargetRule("HandlerProcess", .adapter, ["CLinux", "LinuxSystem"]),
    TargetRule("JournalLog", .adapter, ["CSystemd", "PushModel", "LinuxSystem"]),
    TargetRule("HTTPClient", .adapter, ["CCurl", "CLinux", "LinuxSystem"]),
    TargetRule("HTTPServer", .adapter, ["CMicroHTTPD", "LinuxSystem"]),
    TargetRule("TLS", .adapter, ["CTLS"]),
    TargetRule("HTTP2", .adapter, ["CNGHTTP2"]),
    TargetRule("Gzip", .adapter, ["CZlib"]),
    TargetRule("DBus", .adapter, ["CSystemd", "PushRouting", "LinuxSystem"]),
    TargetRule("JSONC", .adapter, ["CJSON", "PushModel"]),
    TargetRule("PostgreSQL", .adapter, ["CPostgreSQL", "PushModel", "PushFleet", "LinuxSystem"]),
    TargetRule(
        "SettingsFiles", .adapter, ["PushModel", "SettingsSyntax", "PushRouting", "PushSettings", "LinuxSystem"]),

    TargetRule(
        "ServiceProgram", .shared,
        ["PushModel", "PushSettings", "LinuxSystem", "EventLoop", "JournalLog", "SettingsFiles"]),
    TargetRule("DaemonClient", .shared, ["PushModel", "LinuxSystem", "UnixSockets"]),
    TargetRule(
        "LedgerReports", .shared,
        ["PushModel", "PushDispatch", "PushFigures", "PushReporting", "PushRouting", "Store"]),
    TargetRule(
        "ServiceSockets", .shared,
        ["CLinux", "LinuxSystem", "EventLoop", "UnixSockets", "HTTPServer", "SettingsSyntax", "SettingsFiles"]),
    TargetRule("HTTPSending", .shared, ["EventLoop", "HTTPClient", "LinuxSystem", "CLinux"]),
    TargetRule(
        "HandlerRuns", .shared,
        [
            "PushModel", "PushRouting", "LinuxSystem", "EventLoop", "UnixSockets", "HandlerProcess",
            "DBus", "JournalLog",
        ]),

    TargetRule(
        "LedgerSource", .source,
        ["PushModel", "PushQuery", "PushReporting", "PushRouting", "PushDispatch", "Store", "LedgerReports"]),

    TargetRule(
        "PushDaemon", .composition,
        [
            "PushModel", "PushTracking", "PushCustomData", "SettingsSyntax", "PushRouting", "PushFleet", "PushFigures",
            "PushReporting", "PushSettings", "LinuxSystem", "EventLoop", "UnixSockets", "Store", "HandlerProcess",
            "HandlerRuns",
            "JournalLog", "SettingsFiles", "DBus",
        ]),
    TargetRule("pushrouterd", .composition, ["PushDaemon", "ServiceProgram"]),
    TargetRule(
        "pushrouterd-fleet", .composition,
        [
            "PushModel", "PushFleet", "PushReporting", "PushSettings", "LinuxSystem", "SettingsSyntax", "SettingsFiles",
            "PostgreSQL", "Store", "PushDaemon", "ServiceProgram",
        ]),
    TargetRule(
        "pushctl", .composition,
        [
            "CLinux", "PushModel", "PushDispatch", "PushTracking", "PushCustomData", "PushRouting", "PushFigures",
            "PushReporting", "PushQuery", "SettingsSyntax", "HTTPBridge", "PushHosts", "PushSettings", "PushAccidents",
            "LinuxSystem", "EventLoop", "Store", "UnixSockets", "HandlerProcess", "HandlerRuns",
            "JournalLog",
            "SettingsFiles", "DaemonClient", "LedgerReports", "JSONC",
        ]),
    TargetRule(
        "pushrouter-forward", .composition,
        [
            "PushModel", "PushCustomData", "PushSettings", "LinuxSystem", "EventLoop",
            "HTTPClient", "HTTPSending", "JournalLog", "SettingsFiles", "ServiceProgram", "DaemonClient", "JSONC",
        ]),
    TargetRule(
        "pushrouter-http", .composition,
        [
            "CCrypto", "PushModel", "PushRouting", "HTTPBridge", "PushSettings", "LinuxSystem", "EventLoop",
            "UnixSockets", "HTTPClient", "HTTPSending", "HandlerRuns", "JournalLog", "SettingsFiles", "ServiceProgram",
        ]),
    TargetRule(
        "pushrouter-gateway", .composition,
        [
            "PushModel", "PushDispatch", "PushHosts", "PushGateway", "PushSettings", "SettingsSyntax", "LinuxSystem",
            "EventLoop", "CLinux", "UnixSockets", "TLS", "HTTP2", "Gzip", "HTTPServer", "JournalLog", "SettingsFiles",
            "ServiceProgram", "ServiceSockets",
            "DaemonClient",
        ]),
    TargetRule(
        "pushrouter-web", .composition,
        [
            "PushModel", "PushQuery", "PushHosts", "PushWeb", "PushRouting", "PushSettings", "SettingsSyntax",
            "LinuxSystem",
            "EventLoop", "HTTPServer", "JournalLog", "SettingsFiles", "ServiceProgram", "ServiceSockets",
            "DaemonClient", "LedgerSource",
        ]),
    TargetRule(
        "pushrouter-metrics", .composition,
        [
            "PushModel", "PushReporting", "PushSettings", "LinuxSystem", "EventLoop", "HTTPServer", "JournalLog",
            "SettingsFiles", "ServiceProgram", "DaemonClient",
        ]),
]

/// Constructs that switch off a check of the compiler, and the files that may use them: a comment directly above each
/// use says why it is safe.
let escapes: [(text: String, files: Set<String>)] = [
    (
        "@unchecked Sendable",
        [
            "Sources/System/LinuxSystem/Monitor.swift", "Sources/Core/PushModel/Indirect.swift",
            "Sources/Core/PushModel/JSON/JSONStorage.swift",
            "Sources/Core/PushModel/JSON/JSONView.swift", "Sources/Core/PushModel/Rows/RowBuffer.swift",
            "Sources/System/HandlerProcess/SpawnContext.swift",
        ]
    ),
    ("nonisolated(unsafe)", []),
    ("try!", []),
    ("fatalError(", []),
]
