extension Accident {
    /// The files of the folder `Catalogue`, compiled in, in reading order.
    private static let files: [(name: String, bytes: [UInt8])] = [
        ("notification-block", PackageResources.notification_block_accident),
        ("two-owners", PackageResources.two_owners_accident),
        ("silent-tap", PackageResources.silent_tap_accident),
        ("no-braze-instance", PackageResources.no_braze_instance_accident),
        ("completion", PackageResources.completion_accident),
        ("slow-handler", PackageResources.slow_handler_accident),
        ("own-message-id", PackageResources.own_message_id_accident),
        ("force-stopped", PackageResources.force_stopped_accident),
        ("own-receiver", PackageResources.own_receiver_accident),
        ("web-click", PackageResources.web_click_accident),
    ]

    /// The names for `--example`, in the order of the catalogue.
    public static let names = files.map(\.name)

    /// All accidents of the catalogue.
    public static let catalogue = files.map { read($0.name, $0.bytes) }

    /// Returns an accident; `nil` for an unknown name.
    public static func named(_ name: String) -> Accident? {
        files.first { $0.name == name }.map { read($0.name, $0.bytes) }
    }

    private static func read(_ name: String, _ bytes: [UInt8]) -> Accident {
        do { return try Accident(name: name, file: bytes) } catch {
            // A test reads all files.
            preconditionFailure(error.message)
        }
    }
}
