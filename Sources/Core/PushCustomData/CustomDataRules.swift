/// The settings of custom data.
public struct CustomDataRules: Hashable, Sendable {
    /// The time that a stored event gets when it is flushed.
    public enum EventTime: String, Sendable, CaseIterable {
        /// The time at which it was saved.
        case saved
        /// The time of the session start that flushed it.
        case flushed
    }

    /// The handling of an entry that was sent and perhaps accepted. The endpoint does not detect repeats.
    public enum OnUnknown: String, Sendable, CaseIterable {
        /// The entry waits for a person to decide: no entry counts twice.
        case hold
        /// The forwarder sends it again: no entry is lost.
        case retry
    }

    /// `EventTime=`
    public var eventTime = EventTime.saved
    /// `OnUnknown=`
    public var onUnknown = OnUnknown.hold
    /// The most entries that are neither flushed nor sent. Above it new ones are rejected.
    public var pendingMax = 100_000
    /// The most bytes of their names and values in all.
    public var pendingSizeMax = 64 << 20
    /// The most elements of an array in a custom attribute.
    public var arrayElementsMax = 500
    /// `SendFlushed=`: whether entries that a session flushes are sent to the endpoint as well.
    public var sendsFlushed = false

    /// The defaults.
    public init() {}
}
