public import PushModel

/// Shortens push tokens in output for people. A token is a secret: its holder may be able to send to the device.
public enum PushTokens {
    /// The most characters to show; at most a quarter of the token.
    private static let shown = 8

    /// Returns the beginning of a token, enough to tell tokens apart, and an ellipsis.
    public static func shortened(_ token: String) -> String {
        String(token.prefix(min(shown, token.count / 4))) + "…"
    }

    /// Returns a request's line with its tokens shortened: the string of each member named `token`, at any depth. The
    /// rest is unchanged.
    ///
    /// - Parameter line: JSON; other text is returned unchanged.
    public static func shortened(in line: [UInt8]) -> [UInt8] {
        // `JSONLimits(depth: .max)`: limits may have been higher when the request was accepted.
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

    /// Collects the tokens within a value, in their order.
    private static func collect(_ node: JSONNode, into tokens: inout [JSONNode]) {
        for (key, value) in node.members {
            if key == "token", value.kind == .string { tokens.append(value) } else { collect(value, into: &tokens) }
        }
        for element in node.elements { collect(element, into: &tokens) }
    }
}

extension AnalyticsEvent {
    /// The event with its token shortened, if it has one.
    public var withShortToken: AnalyticsEvent {
        guard case .tokenStateChange(let change, let token?) = content else { return self }
        var event = self
        event.content = .tokenStateChange(change, token: PushTokens.shortened(token))
        return event
    }
}
