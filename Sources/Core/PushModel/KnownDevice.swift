/// A name that a producer gave to an app, a device or a user. Two names are equal if they have the same UTF-8 bytes, as
/// in the ledger and on the wire; Swift's `String` takes two spellings of an accented letter for equal.
public struct ExactName: Hashable, Sendable {
    /// The name.
    public var text: String

    /// - Parameter text: the name.
    public init(_ text: String) { self.text = text }

    public static func == (left: ExactName, right: ExactName) -> Bool {
        left.text.isSame(as: right.text)
    }

    public func hash(into hasher: inout Hasher) {
        text.withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // A byte that no UTF-8 text contains separates names, so that "a", "b" and "ab", "" hash differently.
        hasher.combine(UInt8.max)
    }
}

extension ExactName: ShardedKey {
    public var shardHash: UInt64 { text.withBytes { WordHash.ofThisProcess($0) } }
}

/// The key of a device: its app, and its name within the app.
public struct DeviceKey: Hashable, Sendable {
    private let appName: ExactName?
    private let deviceName: ExactName

    /// Package name or bundle id.
    public var app: String? { appName?.text }
    /// The device, as the producer names it.
    public var device: String { deviceName.text }

    public init(app: String?, device: String) {
        appName = app.map(ExactName.init)
        deviceName = ExactName(device)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(shardHash) }
}

extension DeviceKey: ShardedKey {
    public var shardHash: UInt64 {
        let hash = WordHash.ofThisProcess
        let device = deviceName.text.withBytes { hash($0) }
        // Two apps with the same hash do not become one: `==` decides.
        return hash.joined(device, appName?.text.withBytes { hash($0) } ?? 0)
    }
}

/// The last known facts of a device. They stand in for fields that a request omits.
public struct KnownDevice: Hashable, Sendable {
    /// The request that first named the device. It is the row's key, so that new rows come last.
    public var number: SequenceNumber
    /// The device.
    public var key: DeviceKey
    /// Its platform.
    public var platform: Platform
    /// Its user; `nil`: anonymous.
    public var externalID: String?
    /// The token that its app registered last, or the installation id; `nil` if there is none or it was revoked.
    public var token: String?
    /// The account of the request that first named the device; `nil` if a version stored the row that did not keep it.
    public var owner: Account?
    private var sharedDetail: Indirect<DeviceDetail>?

    public init(
        number: SequenceNumber, key: DeviceKey, platform: Platform, externalID: String?, token: String? = nil,
        owner: Account? = nil, detail: DeviceDetail = DeviceDetail()
    ) {
        (self.number, self.key, self.platform, self.externalID) = (number, key, platform, externalID)
        (self.token, self.owner) = (token, owner)
        self.detail = detail
    }

    /// The device's topics, and its state at the time of a push.
    public var detail: DeviceDetail {
        get { sharedDetail?.value ?? DeviceDetail() }
        set { sharedDetail = newValue.isEmpty ? nil : Indirect(newValue) }
    }

    /// Whether ``detail`` has a topic or a field of the state.
    public var hasDetail: Bool { sharedDetail != nil }

    /// The device as the target of a request.
    public var target: Target {
        Target(platform: platform, app: key.app, device: key.device, externalID: externalID)
    }
}
