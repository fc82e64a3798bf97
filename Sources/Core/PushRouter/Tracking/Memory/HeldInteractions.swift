import PushModel

/// Interactions that wait for their delivery, each until a deadline in the tracker's time. Bounded in count and bytes:
/// beyond the limits the tracker gives up the one that has waited longest.
struct HeldInteractions: Sendable {
    /// The fields that are equal in two equivalent interactions.
    private struct Content: Hashable, Sendable {
        var subject: Interaction.Subject
        var act: Interaction.Act
        var app: ExactName?
        var device: ExactName?
        var externalID: ExactName?

        init(_ interaction: Interaction) {
            subject = interaction.subject
            act = interaction.act
            app = interaction.app.map(ExactName.init)
            device = interaction.device.map(ExactName.init)
            externalID = interaction.externalID.map(ExactName.init)
        }
    }

    /// The key by which a delivery finds the interactions that name it, on its device or on an unknown one.
    private struct Place: Hashable, Sendable {
        var subject: Interaction.Subject
        var device: ExactName?

        init(_ subject: Interaction.Subject, on device: String?) {
            self.subject = subject
            self.device = device.map(ExactName.init)
        }
    }

    /// The limit of interactions that wait for one delivery on one device: the turn in which it comes settles them all.
    static let countMaxAtPlace = 256
    /// The limits of waiting interactions and of the bytes of their texts.
    static let countMax = 10_000
    static let byteCountMax = 16 << 20

    private var entries: [SequenceNumber: (interaction: Interaction, due: Int64)] = [:]
    private var byPlace: [Place: Set<SequenceNumber>] = [:]
    private var byContent: [Content: Int] = [:]
    /// The causes in the order in which they came; `surplus` skips those that no longer wait.
    private var queue = Queue<SequenceNumber>()
    private(set) var byteCount = 0

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }

    /// All waiting interactions, in no order.
    var all: [Interaction] { entries.values.map(\.interaction) }

    subscript(cause: SequenceNumber) -> (interaction: Interaction, due: Int64)? { entries[cause] }

    /// The cause of the longest waiting interaction if a limit is exceeded.
    var surplus: SequenceNumber? {
        mutating get {
            guard entries.count > Self.countMax || byteCount > Self.byteCountMax && entries.count > 1 else {
                return nil
            }
            while let first = queue.first, entries[first] == nil { _ = queue.popFirst() }
            return queue.first
        }
    }

    mutating func add(_ interaction: Interaction, due: Int64) {
        let cause = interaction.cause
        entries[cause] = (interaction, due)
        byPlace[Place(interaction.subject, on: interaction.device), default: []].insert(cause)
        byContent[Content(interaction), default: 0] += 1
        byteCount += interaction.byteCount
        queue.append(cause)
        guard queue.count > 2 * entries.count + 64 else { return }
        var waiting = Queue<SequenceNumber>()
        while let cause = queue.popFirst() { if entries[cause] != nil { waiting.append(cause) } }
        queue = waiting
    }

    mutating func remove(_ cause: SequenceNumber) -> Interaction? {
        guard let interaction = entries.removeValue(forKey: cause)?.interaction else { return nil }
        byteCount -= interaction.byteCount
        let place = Place(interaction.subject, on: interaction.device)
        byPlace[place]?.remove(cause)
        if byPlace[place]?.isEmpty == true { byPlace[place] = nil }
        let content = Content(interaction)
        byContent[content, default: 0] -= 1
        if byContent[content] == 0 { byContent[content] = nil }
        return interaction
    }

    /// Returns the causes of interactions that wait for a subject on a device, or on an unknown one, in the order of
    /// their numbers.
    func causes(of subjects: [Interaction.Subject], on device: String?) -> [SequenceNumber] {
        var causes: Set<SequenceNumber> = []
        for subject in subjects {
            for device in device == nil ? [nil] : [device, nil] {
                if let waiting = byPlace[Place(subject, on: device)] { causes.formUnion(waiting) }
            }
        }
        return causes.sorted()
    }

    /// Whether the limit of interactions with this subject on this device is reached.
    func isFull(for interaction: Interaction) -> Bool {
        byPlace[Place(interaction.subject, on: interaction.device)]?.count ?? 0 >= Self.countMaxAtPlace
    }

    /// Whether an equivalent interaction waits, too.
    func hasAnother(like interaction: Interaction) -> Bool {
        (byContent[Content(interaction)] ?? 0) > (entries[interaction.cause] == nil ? 0 : 1)
    }
}

extension Interaction {
    /// The size of its texts in bytes.
    fileprivate var byteCount: Int {
        var count = (app?.utf8.count ?? 0) + (device?.utf8.count ?? 0) + (externalID?.utf8.count ?? 0)
        if case .message(let id) = subject { count += id.utf8.count }
        if case .button(let id) = act { count += id.utf8.count }
        return count
    }
}
