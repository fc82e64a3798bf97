import PushModel
import PushRouter

/// A curl command that sends a message: `curl -H 'apns-topic: APP' -d '{...}' https://api.push.apple.com/3/device/TOKEN`.
struct CurlCommand {
    private var body: [UInt8]?
    private var url: String?
    /// The headers of APNs.
    private var headers: [(name: String, value: String)] = []

    /// The app: the topic without the suffix of a push type.
    private var app: String? {
        headers.first { $0.name == APNsHeader.topic.rawValue }.map { APNsTopic($0.value)?.app ?? $0.value }
    }

    /// One-letter options with a value.
    private static let withValue = Set("AbcCdDeEFHKmoPQrtTuUwxXyYz".utf8)

    init(_ words: [[UInt8]]) throws(PayloadFormError) {
        var rest = words.dropFirst()
        while let word = rest.popFirst() {
            if word.starts(with: "--".utf8) {
                try take(String(decoding: word.dropFirst(2), as: UTF8.self), &rest)
            } else if word.first == UInt8(ascii: "-") {
                try takeLetters(word.dropFirst(), &rest)
            } else if url == nil || word.has("://".utf8) {
                url = String(decoding: word, as: UTF8.self)
            }
        }
    }

    func payload() throws(PayloadFormError) -> WrittenPayload {
        guard let body else {
            throw PayloadFormError("the curl command has no body, which -d, --data-raw, --data-binary or --json give")
        }
        let host = url.flatMap(Self.host)
        if host?.hasSuffix(".braze.com") == true || host?.hasSuffix(".braze.eu") == true {
            throw PayloadFormError(
                """
                the body is a request to Braze, which makes the payload of it: send it to a test device, and take the \
                payload from the log of the device
                """)
        }
        let isApples = host?.hasSuffix("push.apple.com") == true
        var payload = WrittenPayload(json: body, platform: isApples ? .ios : nil, app: app, host: host)
        if host?.hasSuffix(".huawei.com") == true { (payload.platform, payload.transport) = (.android, .hms) }
        if host == "api.amazon.com" { (payload.platform, payload.transport) = (.android, .adm) }
        if isApples, !headers.isEmpty {
            var writer = JSONWriter()
            writer.object { writer in headers.forEach { writer.member($0.name, $0.value) } }
            payload.headers = writer.bytes
        }
        return payload
    }

    private mutating func take(_ option: String, _ rest: inout ArraySlice<[UInt8]>) throws(PayloadFormError) {
        switch option {
        case "data", "data-ascii", "data-binary", "json": try add(rest.popFirst(), mayBeFile: true)
        case "data-raw": try add(rest.popFirst(), mayBeFile: false)
        case "data-urlencode", "form":
            throw PayloadFormError("curl --\(option): neither FCM nor APNs takes a form; give the JSON with -d")
        case "header": take(header: rest.popFirst() ?? [])
        case "url": url = rest.popFirst().map { String(decoding: $0, as: UTF8.self) }
        // A word after another option is no URL, or contains no `://`.
        default: break
        }
    }

    /// Handles a word of one-letter options. The value of an option is the rest of the word, or the next word.
    private mutating func takeLetters(
        _ letters: ArraySlice<UInt8>, _ rest: inout ArraySlice<[UInt8]>
    ) throws(PayloadFormError) {
        guard let place = letters.firstIndex(where: Self.withValue.contains) else { return }
        let behind = letters[(place + 1)...]
        let value = behind.isEmpty ? rest.popFirst() : Array(behind)
        switch letters[place] {
        case UInt8(ascii: "d"): try add(value, mayBeFile: true)
        case UInt8(ascii: "H"): take(header: value ?? [])
        default: break
        }
    }

    private mutating func add(_ value: [UInt8]?, mayBeFile: Bool) throws(PayloadFormError) {
        guard let value else { throw PayloadFormError("the curl command ends before its body") }
        guard !mayBeFile || value.first != UInt8(ascii: "@") else {
            let name = String(decoding: value.dropFirst(), as: UTF8.self)
            throw PayloadFormError(
                name == "-"
                    ? "the body of the curl command comes from another command: put it into a file, and give that file"
                    : "the body of the curl command is the file \(name): give that file")
        }
        // curl joins several bodies with `&`.
        if body == nil { body = [] } else { body?.append(UInt8(ascii: "&")) }
        body?.append(contentsOf: value)
    }

    private mutating func take(header: [UInt8]) {
        guard let colon = header.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = String(decoding: header[..<colon], as: UTF8.self).lowercased()
        guard APNsHeader(rawValue: name) != nil else { return }
        let value = header[(colon + 1)...].drop(while: \.isJSONWhiteSpace)
        headers.removeAll { $0.name == name }
        headers.append((name, String(decoding: value, as: UTF8.self)))
    }

    /// Returns the host of a URL, without user, port and path.
    private static func host(of url: String) -> String? {
        var text = Array(url.utf8)[...]
        if let scheme = text.firstIndex(of: UInt8(ascii: ":")), text[scheme...].starts(with: "://".utf8) {
            text = text[(scheme + 3)...]
        }
        let authority = text.prefix { !"/?#".utf8.contains($0) }
        let behindUser = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        let host = behindUser.prefix { $0 != UInt8(ascii: ":") }
        return host.isEmpty ? nil : String(decoding: host, as: UTF8.self)
    }
}
