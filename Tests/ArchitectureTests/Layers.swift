/// What a target is allowed to be.
enum Layer: Int, Comparable {
    /// A module map over a system library, or C of our own.
    case c
    /// The standard library only; time is an argument; nothing can block.
    case pure
    /// What the adapters have in common of the system.
    case system
    /// One thing of the outside world each; they never import each other.
    case adapter
    /// Wires the others.
    case composition

    static func < (left: Layer, right: Layer) -> Bool { left.rawValue < right.rawValue }
}

/// One folder of `Sources`: its layer, and the targets of this package that it may import.
struct TargetRule {
    let name: String
    let layer: Layer
    let imports: Set<String>

    init(_ name: String, _ layer: Layer, _ imports: Set<String> = []) {
        self.name = name
        self.layer = layer
        self.imports = imports
    }

    /// The modules of the system that it may import. Foundation is in no layer.
    var systemModules: Set<String> {
        switch layer {
        case .c, .pure: []
        case .system, .adapter, .composition: ["Glibc", "Synchronization"]
        }
    }
}

/// The diagram of the layers: a target imports only what is above it.
let layers = [
    TargetRule("CSystemd", .c),
    TargetRule("CSQLite", .c),
    TargetRule("CCurl", .c),
    TargetRule("CLinux", .c),
    TargetRule("CChecksum", .c),

    TargetRule("PushModel", .pure),
    TargetRule("PushDispatch", .pure, ["PushModel"]),
    TargetRule("PushTracking", .pure, ["PushModel"]),
    TargetRule("PushCustomData", .pure, ["PushModel"]),
    TargetRule("PushRouting", .pure, ["PushModel", "PushDispatch", "PushTracking", "PushCustomData"]),
    TargetRule("PushReporting", .pure, ["PushModel"]),
    TargetRule("PushForwarding", .pure, ["PushModel"]),
    TargetRule(
        "PushSettings", .pure,
        ["PushModel", "PushDispatch", "PushTracking", "PushCustomData", "PushRouting", "PushForwarding"]),
    TargetRule("PushProtocol", .pure, ["PushModel", "PushCustomData", "PushRouting"]),
    TargetRule(
        "PushSimulation", .pure,
        ["PushModel", "PushDispatch", "PushTracking", "PushCustomData", "PushRouting", "PushProtocol"]),

    TargetRule("LinuxSystem", .system, ["CLinux"]),

    TargetRule("EventLoop", .adapter, ["CSystemd", "LinuxSystem"]),
    TargetRule("UnixSockets", .adapter, ["CLinux", "LinuxSystem"]),
    TargetRule("Store", .adapter, ["CSQLite", "CLinux", "CChecksum", "PushModel", "LinuxSystem"]),
    TargetRule("HandlerProcess", .adapter, ["CLinux", "LinuxSystem"]),
    TargetRule("JournalLog", .adapter, ["CSystemd", "CLinux", "LinuxSystem"]),
    TargetRule("HTTPClient", .adapter, ["CCurl", "CLinux"]),
    TargetRule("SettingsFiles", .adapter, ["PushRouting", "PushSettings"]),

    TargetRule(
        "PushDaemon", .composition,
        [
            "PushModel", "PushTracking", "PushCustomData", "PushRouting", "PushSettings", "PushProtocol", "LinuxSystem",
            "EventLoop", "UnixSockets", "Store", "HandlerProcess", "JournalLog", "SettingsFiles",
        ]),
    TargetRule("pushrouterd", .composition, ["PushDaemon", "PushModel", "PushSettings"]),
    TargetRule(
        "pushctl", .composition,
        [
            "PushModel", "PushDispatch", "PushTracking", "PushCustomData", "PushRouting", "PushReporting",
            "PushSettings",
            "PushForwarding", "PushProtocol", "PushSimulation", "Store", "UnixSockets", "SettingsFiles",
        ]),
    TargetRule(
        "pushrouter-forward", .composition,
        [
            "PushModel", "PushCustomData", "PushForwarding", "PushSettings", "PushProtocol", "LinuxSystem", "EventLoop",
            "HTTPClient", "JournalLog", "UnixSockets", "SettingsFiles", "CLinux",
        ]),
]

/// What takes a check of the compiler away, and the files that may do so: each use says directly above why it is safe.
let escapes: [(text: String, files: Set<String>)] = [
    ("@unchecked Sendable", ["Sources/LinuxSystem/Monitor.swift", "Sources/PushModel/Rows/RowBuffer.swift"]),
    ("nonisolated(unsafe)", []),
    ("try!", []),
    ("fatalError(", []),
]
