public import PushModel

extension LedgerReader {
    /// What was last said of each device, in no order.
    public func knownDevices() throws(StoreError) -> [KnownDevice] {
        let statement = try database.prepare("SELECT app, device, platform, external_id FROM devices")
        var devices: [KnownDevice] = []
        while try statement.step() {
            guard let device = statement.text(1) else { continue }
            let app = statement.text(0).flatMap { $0.isEmpty ? nil : $0 }
            devices.append(
                KnownDevice(
                    key: DeviceKey(app: app, device: device), platform: try statement.name(2),
                    externalID: statement.text(3)))
        }
        return devices
    }
}

extension Statement {
    /// Binds the key of `devices`.
    mutating func bind(_ key: DeviceKey) {
        bind(key.app ?? "", at: 1)
        bind(key.device, at: 2)
    }

    /// Binds the columns of `devices`.
    mutating func bind(_ device: KnownDevice) {
        bind(device.key)
        bind(device.platform.rawValue, at: 3)
        bind(device.externalID, at: 4)
    }
}
