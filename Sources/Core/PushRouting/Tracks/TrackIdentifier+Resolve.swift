import PushDispatch
import PushModel

extension TrackIdentifier {
    /// Returns the profile, or the reason why the facts do not determine it.
    func resolved(_ facts: TrackFacts) -> (identifier: UserIdentifier?, fault: EntryProblem?) {
        let (field, source, identifier): (String, TrackSource, (String) -> UserIdentifier) =
            switch self {
            case .brazeID(let key): ("braze_id", .keyValue(key), UserIdentifier.brazeID)
            case .externalID(let source): ("external_id", source, UserIdentifier.externalID)
            case .alias(let label, let source): ("alias", source, { .alias(name: $0, label: label) })
            }
        guard let text = facts.text(of: source), !text.isEmpty else {
            return (nil, source.missing(facts, for: field))
        }
        return (identifier(text), nil)
    }
}

extension TrackSource {
    /// Returns the reason why a required value is missing or empty.
    func missing(_ facts: TrackFacts, for field: String) -> EntryProblem {
        EntryProblem(.notInPayload, reasonMissing(facts), field: field)
    }

    private func reasonMissing(_ facts: TrackFacts) -> String {
        if facts.text(of: self) != nil { return "\(described) is empty" }
        switch self {
        case .keyValue, .data:
            guard let keys = facts.keys else {
                return
                    "\(described) is unknown: the interaction does not carry the payload, and the payload is not known"
            }
            guard case .keyValue(let key) = self else { return "the payload has no \(described)" }
            let near = nearMiss(of: key, among: keys.namesOfKeyValues(like: key))
            return "the payload has no \(described)" + (near.map { "; it has \($0)" } ?? "")
        case .fact(.externalID):
            return "the user is not known: no external_id was given, and the device had none before"
        case .fact, .constant: return "\(described) is not known"
        }
    }

    /// The source, for messages.
    public var described: String {
        switch self {
        case .keyValue(let key): "key-value \(key)"
        case .data(let key): "key \(key)"
        case .fact(let fact): fact.rawValue
        case .constant(let text): "\"\(text)\""
        }
    }
}

/// Returns the name that was probably meant, with its difference: in case, hyphens, underscores or spaces only. `nil`:
/// no name is that close.
public func nearMiss(of wanted: String, among names: some Sequence<String>) -> String? {
    let plain = letters(of: wanted)
    // The length is limited because the name is shown: no other text of the payload's author gets into the message.
    let near = names.first {
        $0 != wanted && $0.utf8.count <= wanted.utf8.count + 8 && plain == letters(of: $0)
    }
    guard let near else { return nil }
    let isOnlyCase = near.lowercased() == wanted.lowercased()
    return isOnlyCase ? "\(near): names are case-sensitive" : "\"\(near)\": names must match exactly"
}

/// Returns a name in lower case, without hyphens, underscores and spaces.
private func letters(of name: String) -> [UInt8] {
    name.lowercased().utf8.filter { !"-_ ".utf8.contains($0) }
}
