public import PushModel

extension ButtonAction {
    /// `nil` for a button that the SDK does not know: the press is logged, nothing else happens.
    public init?(_ kind: BrazeFacts.Action.Kind) {
        switch kind {
        case .uri: self = .uri
        case .deepLink: self = .deepLink
        case .open: self = .none
        case .close: self = .close
        case .unknown: return nil
        }
    }
}
