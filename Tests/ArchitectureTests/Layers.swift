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
        case .c, .system, .adapter, .shared: "Sources/System/\(name)"
        // The daemon's documentation has a fixed place.
        case .composition: name == "PushDaemon" ? "Sources/PushDaemon" : "Sources/Programs/\(name)"
        }
    }

    /// The system modules that it may import. Foundation is in no layer.
    var systemModules: Set<String> {
        switch layer {
        case .c, .pure: []
        case .system, .adapter, .shared, .composition: ["Glibc", "Synchronization"]
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
    TargetRule("PushRouter", .pure, ["PushModel"]),
    TargetRule("PushSettings", .pure, ["PushModel", "PushRouter"]),
    TargetRule("PushViews", .pure, ["PushModel", "PushRouter", "PushSettings"]),
    TargetRule("PushGateway", .pure, ["PushModel", "PushRouter", "PushSettings"]),

    TargetRule("LinuxSystem", .system, ["CSystemd", "CLinux", "PushModel", "PushRouter", "PushSettings"]),

    TargetRule("Store", .adapter, ["CSQLite", "CLinux", "CChecksum", "PushModel", "LinuxSystem"]),
    TargetRule("HandlerProcess", .adapter, ["CLinux", "LinuxSystem"]),
    TargetRule("HTTPClient", .adapter, ["CCurl", "CLinux", "LinuxSystem"]),
    TargetRule("HTTPServer", .adapter, ["CMicroHTTPD", "CLinux", "PushModel", "LinuxSystem"]),
    TargetRule("TLS", .adapter, ["CTLS"]),
    TargetRule("HTTP2", .adapter, ["CNGHTTP2"]),
    TargetRule("Gzip", .adapter, ["CZlib"]),
    TargetRule("DBus", .adapter, ["CSystemd", "PushRouter", "LinuxSystem"]),
    TargetRule("JSONC", .adapter, ["CJSON", "PushModel"]),
    TargetRule("PostgreSQL", .adapter, ["CPostgreSQL", "PushModel", "LinuxSystem"]),

    TargetRule("LedgerReports", .shared, ["PushModel", "PushRouter", "PushViews", "Store"]),
    TargetRule("HandlerRuns", .shared, ["PushModel", "PushRouter", "LinuxSystem", "HandlerProcess", "DBus"]),

    TargetRule(
        "PushDaemon", .composition,
        [
            "PushModel", "PushRouter", "PushViews", "PushSettings", "LinuxSystem", "Store", "HandlerProcess",
            "HandlerRuns", "DBus",
        ]),
    TargetRule("pushrouterd", .composition, ["PushDaemon", "LinuxSystem"]),
    TargetRule(
        "pushrouterd-fleet", .composition,
        ["PushModel", "PushViews", "PushSettings", "LinuxSystem", "PostgreSQL", "Store", "PushDaemon"]),
    TargetRule(
        "pushctl", .composition,
        [
            "CLinux", "PushModel", "PushRouter", "PushViews", "PushSettings", "PushGateway", "LinuxSystem", "Store",
            "HandlerProcess", "HandlerRuns", "LedgerReports", "JSONC",
        ]),
    TargetRule(
        "pushrouter-forward", .composition,
        ["PushModel", "PushRouter", "PushSettings", "LinuxSystem", "HTTPClient", "JSONC"]),
    TargetRule(
        "pushrouter-http", .composition,
        ["CCrypto", "PushModel", "PushRouter", "PushSettings", "LinuxSystem", "HTTPClient", "HandlerRuns"]),
    TargetRule(
        "pushrouter-gateway", .composition,
        [
            "PushModel", "PushRouter", "PushSettings", "PushGateway", "LinuxSystem", "CLinux", "TLS", "HTTP2",
            "Gzip", "HTTPServer",
        ]),
    TargetRule(
        "pushrouter-web", .composition,
        ["PushModel", "PushViews", "PushSettings", "PushRouter", "LinuxSystem", "HTTPServer", "LedgerReports"]),
    TargetRule(
        "pushrouter-metrics", .composition, ["PushModel", "PushViews", "PushSettings", "LinuxSystem", "HTTPServer"]),
]

/// Constructs that switch off a check of the compiler, and the files that may use them: a comment directly above each
/// use says why it is safe.
let escapes: [(text: String, files: Set<String>)] = [
    (
        "@unchecked Sendable",
        [
            "Sources/System/LinuxSystem/Basics/Threads.swift", "Sources/Core/PushModel/Collections/Queue.swift",
            "Sources/Core/PushModel/JSON/JSONObject.swift",
            "Sources/Core/PushModel/JSON/JSONView.swift", "Sources/Core/PushModel/Rows/RowBuffer.swift",
            "Sources/System/HandlerProcess/SpawnContext.swift",
        ]
    ),
    ("nonisolated(unsafe)", []),
    ("try!", []),
    ("fatalError(", []),
]
