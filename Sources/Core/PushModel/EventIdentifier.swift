extension AnalyticsEvent {
    /// Returns the id of the one event of its kind that a number has: a version 8 UUID (RFC 9562) of the number, the
    /// kind and the state directory's id.
    ///
    /// The UUID holds the three side by side, not hashed, so two events of one state directory never share an id, and
    /// the same input gives the same bytes.
    ///
    /// - Parameters:
    ///   - state: the state directory's id.
    ///   - number: the request that caused the event. For an influenced open it is the delivery, which has at most one,
    ///     because one session start may cause several; for the end of a session it is the request that began the
    ///     session; for a custom event its entry.
    ///   - kind: the kind.
    public static func identifier(state: UUID128, number: SequenceNumber, kind: Kind) -> UUID128 {
        let digits = UInt64(bitPattern: number.value) & 0xFFFF_FFFF_FFFF
        return UUID128(
            high: digits << 16 | 0x8000 | UInt64(kind.code),
            low: 0x8000_0000_0000_0000 | (state.high ^ state.low) >> 2)
    }
}

extension AnalyticsEvent.Kind {
    /// The code of the kind, twelve bits; it never changes, because ids contain it.
    fileprivate var code: UInt16 {
        switch self {
        case .received: 1
        case .open: 2
        case .influencedOpen: 3
        case .iosForeground: 4
        case .sessionStart: 5
        case .sessionEnd: 6
        case .tokenStateChange: 7
        case .uninstall: 8
        case .customEvent: 9
        }
    }
}
