public import PushModel

/// The order in which devices go when their memory is full, by the places of the devices in their table.
///
/// Each account has two rings. The device that goes next is at the head: the devices without token and topics are in
/// the first ring, all others in the second, the least recently used first. A device that was used since it came to the
/// head goes to the tail once instead (the second-chance algorithm).
///
/// The account that has the most bytes loses devices. It has at least the average, so no account below its fair share
/// loses one.
struct DeviceShares: Sendable {
    /// The part of the memory that one account has.
    private struct Share: Sendable {
        var account: Account?
        var byteCount = 0
        var plain = Ring()
        var registered = Ring()
    }

    private struct Ring: Sendable {
        var head = DeviceShares.none
        var count = 0
    }

    private struct Link: Sendable {
        var before: UInt32
        var after: UInt32
        var share: UInt32
        var isRegistered: Bool
        var wasUsed: Bool
    }

    /// The links in pages, so that no table is copied as a whole when it grows.
    private struct Links: Sendable {
        private static let pageLength = 512
        private static let free = Link(
            before: DeviceShares.none, after: DeviceShares.none, share: 0, isRegistered: false, wasUsed: false)

        private var pages: ContiguousArray<ContiguousArray<Link>> = []

        subscript(place: Int) -> Link {
            _read { yield pages[place / Self.pageLength][place % Self.pageLength] }
            _modify { yield &pages[place / Self.pageLength][place % Self.pageLength] }
        }

        /// Makes room for a place.
        mutating func reserve(_ place: Int) {
            while pages.count <= place / Self.pageLength {
                pages.append(ContiguousArray(repeating: Self.free, count: Self.pageLength))
            }
        }
    }

    private static let none = UInt32.max

    /// The most devices that a search skips, so that a turn of the loop stays short.
    private static let chancesMax = 64

    private var links = Links()
    private var shares: ContiguousArray<Share> = []
    /// The index of an account's share. Devices without a known owner have one together.
    private var indices: [Account?: UInt32] = [:]
    /// The bytes of all devices.
    private(set) var byteCount = 0

    /// The number of accounts with a device.
    var accountCount: Int { shares.count { $0.plain.count + $0.registered.count > 0 } }

    /// The bytes of an account's devices.
    func byteCount(of account: Account?) -> Int { indices[account].map { shares[Int($0)].byteCount } ?? 0 }

    // MARK: Changes

    /// Adds a device behind all others of its account.
    mutating func insert(_ place: Int, of account: Account?, isRegistered: Bool, bytes: Int) {
        links.reserve(place)
        let share = index(of: account)
        links[place].share = share
        links[place].wasUsed = false
        append(place, isRegistered)
        change(place, bytes: bytes)
    }

    /// Removes a device.
    mutating func remove(_ place: Int, bytes: Int) {
        change(place, bytes: -bytes)
        take(place)
    }

    /// Adds to the bytes of a device.
    mutating func change(_ place: Int, bytes: Int) {
        byteCount += bytes
        shares[Int(links[place].share)].byteCount += bytes
    }

    /// Marks a device as used.
    mutating func use(_ place: Int) { links[place].wasUsed = true }

    /// Notes whether a device has a token or a topic.
    mutating func note(_ place: Int, isRegistered: Bool) {
        guard links[place].isRegistered != isRegistered else { return }
        take(place)
        append(place, isRegistered)
    }

    private mutating func index(of account: Account?) -> UInt32 {
        if let index = indices[account] {
            // The account from the ledger has only a uid; an equal one from a request may have a name, too.
            shares[Int(index)].account = account
            return index
        }
        shares.append(Share(account: account))
        indices[account] = UInt32(shares.count - 1)
        return UInt32(shares.count - 1)
    }

    // MARK: The next to go

    /// Returns the device that goes next, and its account; `nil` if the account with the most bytes has no other than
    /// `spared`.
    mutating func next(but spared: Int?) -> (place: Int, account: Account?)? {
        guard let index = shares.indices.max(by: { shares[$0].byteCount < shares[$1].byteCount }) else { return nil }
        var chances = 0
        for isRegistered in [false, true] {
            let sparesOne = spared.map { Int(links[$0].share) == index && links[$0].isRegistered == isRegistered }
            guard ring(index, isRegistered).count > (sparesOne == true ? 1 : 0) else { continue }
            while true {
                let place = Int(ring(index, isRegistered).head)
                if place != spared {
                    guard links[place].wasUsed, chances < Self.chancesMax else {
                        return (place, shares[index].account)
                    }
                    chances += 1
                    links[place].wasUsed = false
                }
                // The head becomes the tail.
                setHead(links[place].after, index, isRegistered)
            }
        }
        return nil
    }

    // MARK: Rings

    private func ring(_ share: Int, _ isRegistered: Bool) -> Ring {
        isRegistered ? shares[share].registered : shares[share].plain
    }

    private mutating func setHead(_ place: UInt32, _ share: Int, _ isRegistered: Bool) {
        if isRegistered { shares[share].registered.head = place } else { shares[share].plain.head = place }
    }

    private mutating func addCount(_ count: Int, _ share: Int, _ isRegistered: Bool) {
        if isRegistered { shares[share].registered.count += count } else { shares[share].plain.count += count }
    }

    /// Puts a device at the tail of a ring of its share.
    private mutating func append(_ place: Int, _ isRegistered: Bool) {
        let share = Int(links[place].share)
        links[place].isRegistered = isRegistered
        let head = ring(share, isRegistered).head
        if head == Self.none {
            (links[place].before, links[place].after) = (UInt32(place), UInt32(place))
            setHead(UInt32(place), share, isRegistered)
        } else {
            let tail = links[Int(head)].before
            (links[place].before, links[place].after) = (tail, head)
            links[Int(tail)].after = UInt32(place)
            links[Int(head)].before = UInt32(place)
        }
        addCount(1, share, isRegistered)
    }

    /// Takes a device out of its ring.
    private mutating func take(_ place: Int) {
        let link = links[place]
        let share = Int(link.share)
        if link.after == UInt32(place) {
            setHead(Self.none, share, link.isRegistered)
        } else {
            links[Int(link.before)].after = link.after
            links[Int(link.after)].before = link.before
            if ring(share, link.isRegistered).head == UInt32(place) { setHead(link.after, share, link.isRegistered) }
        }
        addCount(-1, share, link.isRegistered)
    }
}

/// A file of `registrations.d`: names the device of a token that no device registered, and the parts of the device's
/// state that `op: device` has not set.
public struct RegistrationRule: Hashable, Sendable {
    /// The file name without its extension. Rules apply in order of their names; the first match wins.
    public var name: String
    /// The tokens and installation ids.
    public var tokens: [Glob]
    /// The platform; `nil`: the sender's guess.
    public var platform: Platform?
    /// The package name or bundle id; `nil`: the sender's guess.
    public var app: String?
    /// The device; `nil`: each token is the name of its own device.
    public var device: String?
    /// The user.
    public var externalID: String?
    /// The state of the device.
    public var state: DeviceState

    /// Joins the parts.
    public init(
        name: String, tokens: [Glob], platform: Platform? = nil, app: String? = nil, device: String? = nil,
        externalID: String? = nil, state: DeviceState = DeviceState()
    ) {
        (self.name, self.tokens, self.platform, self.app) = (name, tokens, platform, app)
        (self.device, self.externalID, self.state) = (device, externalID, state)
    }

    /// Returns the target of a push to a token.
    ///
    /// - Parameter presumed: the sender's guess.
    func target(ofToken token: String, presumed: Target) -> Target {
        Target(
            platform: platform ?? presumed.platform, app: app ?? presumed.app, device: device ?? token,
            externalID: externalID)
    }
}

/// The device of a token, and its state.
public struct TokenOwner: Hashable, Sendable {
    /// The device as the target of a push.
    public var target: Target
    /// Its state at the time of a push.
    public var state: DeviceState
}

extension RoutingTable {
    /// Returns the rule for a token; `nil`: no file has one.
    func registration(of token: String) -> RegistrationRule? {
        registrations.first { rule in rule.tokens.contains { $0.matches(token) } }
    }

    /// Returns the state of a known device: the rule for its token, changed by `op: device`.
    func state(of device: KnownDevice) -> DeviceState {
        guard !registrations.isEmpty, let rule = device.token.flatMap(registration) else { return device.detail.state }
        return rule.state.changed(by: device.detail.state)
    }
}

extension Router {
    /// Returns the device that registered a token last, or that a file of `registrations.d` names; `nil`: none is
    /// known.
    ///
    /// - Parameter presumed: the sender's guess of the target.
    public func owner(ofToken token: String, presumed: Target) -> TokenOwner? {
        if let device = memory.devices.known.device(ofToken: token) {
            return TokenOwner(target: device.target, state: table.state(of: device))
        }
        return table.registration(of: token).map {
            let target = $0.target(ofToken: token, presumed: presumed)
            return TokenOwner(
                target: target, state: $0.state.changed(by: reportedState(of: target.device, app: target.app)))
        }
    }

    /// Returns the time at which the last device of a token replaced or unregistered it; `nil`: no device had it.
    public func end(ofToken token: String) -> WallTime? { memory.devices.known.former(token: token)?.ended }

    /// Returns the state that `op: device` set for a device, even if the device never registered a token.
    public func reportedState(of device: String?, app: String?) -> DeviceState {
        memory.devices.known(device, app: app)?.detail.state ?? DeviceState()
    }
}
