import HTTPBridge
import PushRouting

/// The installed bridges.
let installedBridges: [any BridgeSettings.Type] = [HTTPEndpoint.self]
