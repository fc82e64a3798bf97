public import PushModel

/// Shortens push tokens in output for people. A token is a secret: its holder may be able to send to the device.
public enum PushTokens {
    /// The most characters to show; at most a quarter of the token.
    private static let shown = 8

    /// Returns the beginning of a token, enough to tell tokens apart, and an ellipsis.
    public static func shortened(_ token: String) -> String {
        String(token.prefix(min(shown, token.count / 4))) + "…"
    }

    /// Returns a request's line with its tokens shortened: the string of each member named `token`, at any depth, also of
    /// JSON that is a text, as the body of a refused send. The rest is unchanged.
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
            let text = token.string ?? ""
            writer.string(text.first == "{" ? shortened(inText: text) : shortened(text))
            result += writer.bytes
            end = range.upperBound
        }
        return result + line[end...]
    }

    /// Returns a text in which each shortened token of a line is the whole one again. Where two tokens have the same
    /// beginning it stays short.
    ///
    /// - Parameters:
    ///   - text: a payload, perhaps changed by a person who saw it with short tokens.
    ///   - line: the request's line, with whole tokens.
    static func restored(in text: [UInt8], from line: JSONNode) -> [UInt8] {
        var nodes: [JSONNode] = []
        collect(line, into: &nodes)
        let tokens = Set(nodes.compactMap(\.string))
        var result = text
        for (short, whole) in Dictionary(grouping: tokens, by: { shortened($0) }) where whole.count == 1 {
            let (short, token) = (Array(short.asJSON.utf8), Array(whole[0].asJSON.utf8))
            var place = 0
            while place + short.count <= result.count {
                if result[place..<place + short.count].elementsEqual(short) {
                    result.replaceSubrange(place..<place + short.count, with: token)
                    place += token.count
                } else {
                    place += 1
                }
            }
        }
        return result
    }

    /// Shortens the tokens of a text of JSON, which may be cut anywhere.
    private static func shortened(inText text: String) -> String {
        let key = Array("\"token\"".utf8)
        var (result, rest) = ("", text[...])
        while let place = rest.utf8.indices.first(where: { rest.utf8[$0...].starts(with: key) }) {
            let end = rest.utf8.index(place, offsetBy: key.count)
            result += rest[..<end]
            rest = rest[end...]
            let before = rest.prefix { $0.isWhitespace || $0 == ":" }
            guard rest[before.endIndex...].first == "\"" else { continue }
            result += before + "\""
            let token = rest[before.endIndex...].dropFirst().prefix { $0 != "\"" }
            result += shortened(String(token))
            rest = rest[token.endIndex...]
        }
        return result + rest
    }

    /// Collects the tokens within a value, and the texts that have some, in their order.
    private static func collect(_ node: JSONNode, into tokens: inout [JSONNode]) {
        for (key, value) in node.members {
            let isText = value.kind == .string && key == "body" && value.string?.has("\"token\"") == true
            if key == "token" && value.kind == .string || isText && value.string?.first == "{" {
                tokens.append(value)
            } else {
                collect(value, into: &tokens)
            }
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
