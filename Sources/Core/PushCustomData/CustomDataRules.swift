/// What of custom data is a setting.
public struct CustomDataRules: Hashable, Sendable {
    /// Which time an event that was stored has.
    public enum EventTime: String, Sendable, CaseIterable {
        /// When it was saved.
        case saved
        /// When the session started that it waited for.
        case flushed
    }

    /// What becomes of an entry that was sent and perhaps accepted: the endpoint does not tell repeats apart.
    public enum OnUnknown: String, Sendable, CaseIterable {
        /// It waits for a person to decide: nothing counts twice.
        case hold
        /// It is sent again: nothing is lost.
        case retry
    }

    /// `EventTime=`
    public var eventTime = EventTime.saved
    /// `OnUnknown=`
    public var onUnknown = OnUnknown.hold
    /// How many entries are kept that are neither flushed nor sent yet. Above it new ones are refused.
    public var pendingMax = 100_000
    /// How many bytes their names and values may have in all.
    public var pendingSizeMax = 64 << 20
    /// How many elements an array of a custom attribute may have.
    public var arrayElementsMax = 500
    /// Whether what a session start flushes is sent to the endpoint as well.
    public var sendsFlushed = false

    /// The defaults.
    public init() {}
}
