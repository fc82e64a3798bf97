import PushModel

extension BrazeFacts {
    /// Returns the warnings about the links and buttons of the notification.
    func warnings(on platform: Platform) -> [Warning] {
        guard kind == .visible else { return [] }
        let links =
            [deepLink.map { (button: String?.none, uri: $0) }]
            + actions.map { action in
                action.uri.map { (button: .some(action.id ?? "without an id"), uri: $0) }
            }
        return links.compactMap { link in
            guard let link, !platform.mayOpen(link.uri) else { return nil }
            return .brazeLinkUnusable(button: link.button)
        } + actions.filter { $0.kind == .unknown }.map { .brazeButtonUnknown(id: $0.id) }
    }
}

extension Platform {
    /// Whether an address could be opened at all: it has a scheme, or is on the web, and has no character that an
    /// address cannot have (RFC 3986, section 2), such as those of Liquid that the sender's service did not replace.
    fileprivate func mayOpen(_ address: String) -> Bool {
        let isPlain = address.utf8.allSatisfy { byte in
            byte > 0x20 && byte != 0x7F && !#"<>"{}|\^`"#.utf8.contains(byte)
        }
        guard isPlain, !address.isEmpty else { return false }
        switch self {
        case .web: return true
        case .android, .ios: return address.hasScheme
        }
    }
}

extension String {
    /// Whether it begins with a scheme and a colon, with at least one character behind it (RFC 3986, section 3.1).
    fileprivate var hasScheme: Bool {
        guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")), utf8.index(after: colon) < utf8.endIndex else {
            return false
        }
        let scheme = utf8[..<colon]
        let isLetter = { (byte: UInt8) in (0x61...0x7A).contains(byte | 0x20) }
        guard let first = scheme.first, isLetter(first) else { return false }
        return scheme.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }
    }
}
