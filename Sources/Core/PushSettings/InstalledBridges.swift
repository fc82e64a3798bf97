import PushRouter

/// The installed bridges.
let installedBridges: [any BridgeSettings.Type] = [HTTPEndpoint.self]
