import HTTPBridge
import PushRouting

/// The bridges that there are.
let installedBridges: [any BridgeSettings.Type] = [HTTPEndpoint.self]
