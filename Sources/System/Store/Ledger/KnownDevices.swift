public import PushModel

extension LedgerReader {
    /// What was last said of each device, in the order in which they were first named, as far as the ledger tells.
    public func knownDevices() throws(StoreError) -> [KnownDevice] {
        let statement = try database.prepare(
            "SELECT number, app, device, platform, external_id FROM devices ORDER BY number")
        var devices: [KnownDevice] = []
        while try statement.step() {
            devices.append(
                KnownDevice(
                    number: SequenceNumber(statement.integer(0)), key: statement.deviceKey(1),
                    platform: try statement.name(3), externalID: statement.text(4)))
        }
        return devices
    }
}
