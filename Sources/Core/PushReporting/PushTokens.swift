public import PushModel

/// Push tokens are secrets: who has one may be able to send to the device. What people read has their beginning only.
public enum PushTokens {
    /// How many characters are shown at most, and the smallest part of the token that those may be: a quarter.
    private static let shown = 8

    /// The beginning of a token, enough to tell it from others, and an ellipsis.
    public static func shortened(_ token: String) -> String {
        String(token.prefix(min(shown, token.count / 4))) + "…"
    }

    /// A request's line with each token in it shortened: the text of each member named `token`, however deep. All else is
    /// as it came.
    ///
    /// - Parameter line: JSON; anything else is given back as it is.
    public static func shortened(in line: [UInt8]) -> [UInt8] {
        // Most payloads have none, and limits may have been higher when it was accepted.
        guard let document = try? JSONDocument(scanning: line, limits: JSONLimits(depth: .max)) else { return line }
        var tokens: [JSONNode] = []
        collect(document.root, into: &tokens)
        guard !tokens.isEmpty else { return line }
        var result: [UInt8] = []
        var end = line.startIndex
        for token in tokens {
            let range = token.rawBytes.indices
            result += line[end..<range.lowerBound]
            var writer = JSONWriter()
            writer.string(shortened(token.string ?? ""))
            result += writer.bytes
            end = range.upperBound
        }
        return result + line[end...]
    }

    /// The tokens within a value, in their order.
    private static func collect(_ node: JSONNode, into tokens: inout [JSONNode]) {
        for (key, value) in node.members {
            if key == "token", value.kind == .string { tokens.append(value) } else { collect(value, into: &tokens) }
        }
        for element in node.elements { collect(element, into: &tokens) }
    }
}

extension AnalyticsEvent {
    /// The same event with its token shortened, where it has one.
    public var withShortToken: AnalyticsEvent {
        guard case .tokenStateChange(let change, let token?) = content else { return self }
        var event = self
        event.content = .tokenStateChange(change, token: PushTokens.shortened(token))
        return event
    }
}
