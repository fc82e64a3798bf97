public import PushModel

extension AnalyticsEvent {
    /// The id of the event of one kind that a request causes: a version 8 UUID (RFC 9562) of the request's number, the
    /// kind and the state directory's id.
    ///
    /// The three are laid side by side, not hashed, so two events of one state directory never share an id, and the
    /// same input gives the same bytes.
    public static func identifier(state: UUID128, cause: SequenceNumber, kind: Kind) -> UUID128 {
        let number = UInt64(bitPattern: cause.value) & 0xFFFF_FFFF_FFFF
        return UUID128(
            high: number << 16 | 0x8000 | UInt64(kind.code),
            low: 0x8000_0000_0000_0000 | (state.high ^ state.low) >> 2)
    }
}

extension AnalyticsEvent.Kind {
    /// Twelve bits, fixed for good: ids are made of it.
    fileprivate var code: UInt16 {
        switch self {
        case .received: 1
        case .open: 2
        }
    }
}
