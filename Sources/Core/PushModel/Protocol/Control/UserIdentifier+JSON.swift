extension JSONWriter {
    /// Writes the member with the identifier of a profile.
    public mutating func member(of identifier: UserIdentifier) {
        switch identifier {
        case .externalID(let id): member("external_id", id)
        case .brazeID(let id): member("braze_id", id)
        case .alias(let name, let label):
            member(
                "alias",
                object: {
                    $0.member("name", name)
                    $0.member("label", label)
                })
        }
    }
}
