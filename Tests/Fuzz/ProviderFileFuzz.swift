import PushModel
import PushRouter
import PushSettings

// Fuzzes the `.provider` files. Any bytes must give a rule or errors, each with its file and a line that exists, and the
// same ones when read again; under a rule, any payload has its owner. Nothing may trap.

/// The names that the file has in turn: another provider's, and Braze's, whose order is special.
private let names = ["another", "braze"]

/// Empty files mask the shipped providers except Braze; deciding with all would take most of the time.
private let masks = ConfigurationSources.shippedProviders.map(\.path).filter { !$0.hasSuffix("/braze.provider") }
    .map { ConfigurationFile(path: $0, bytes: []) }

@c(LLVMFuzzerTestOneInput)
public func fuzzProviderFile(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let text = Array(UnsafeBufferPointer(start: start, count: count))
    let lines = 1 + text.count { $0 == UInt8(ascii: "\n") }
    for name in names {
        let file = ConfigurationFile(path: "providers.d/\(name).provider", bytes: text)
        var sources = ConfigurationSources.shipped
        sources.providers = masks + [file]
        let (settings, diagnostics) = Settings.load(sources)
        let again = Settings.load(sources)
        precondition(again.diagnostics == diagnostics, "two opinions")
        precondition((settings == nil) == diagnostics.contains { $0.severity == .error }, "settings with errors")
        for diagnostic in diagnostics { check(diagnostic, of: file, lines: lines) }
        guard let detection = settings?.routing.detection else { continue }
        precondition(again.settings?.routing.detection.providers == detection.providers, "two rules")
        let known = Set(detection.providers.map(\.name))
        precondition(known.contains(name) == !text.isEmpty && known.isSubset(of: names), "not the rules of the files")
        for provider in detection.providers where provider.name == name { check(provider, among: detection) }
    }
    return 0
}

private func check(_ diagnostic: Diagnostic, of file: ConfigurationFile, lines: Int) {
    precondition(diagnostic.file == file.path, "another file")
    precondition(diagnostic.line.map((1...lines).contains) != false, "no such line")
    precondition(!diagnostic.message.isEmpty, "no message")
    precondition(!diagnostic.description.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "not fit for a terminal")
}

private func check(_ provider: ProviderRule, among detection: DetectionSettings) {
    for (platform, rule) in provider.platforms {
        let conditions = rule.all + rule.any + rule.probes
        precondition(!conditions.isEmpty, "a rule without a condition matches nothing")
        for payload in payloads + [payload(that: conditions)] {
            guard let document = try? JSONDocument(scanning: payload, limits: JSONLimits(depth: 5000)) else {
                preconditionFailure("no JSON: \(String(decoding: payload, as: UTF8.self))")
            }
            let delivery = Delivery(platform: platform, state: .foreground, payload: document.root)
            // A key of the rule may make another form of the payload.
            guard let decision = try? decide(delivery, settings: detection) else { continue }
            precondition(
                decision.invocations.isEmpty == (decision.outcome != nil), "callbacks and an outcome, or neither")
            precondition(decision.providers.allSatisfy { !$0.conditions.isEmpty }, "a match by nothing")
            let orders = decision.providers.map { $0.provider.platforms[platform]?.order ?? 0 }
            precondition(orders == orders.sorted(), "not in their order")
            precondition(decision.reasons.allSatisfy { !$0.description.isEmpty }, "a reason without words")
            precondition(decision.warnings.allSatisfy { !$0.description.isEmpty }, "a warning without words")
        }
    }
}

/// Payloads for any platform, of several providers.
private let payloads: [[UInt8]] = [
    #"{}"#, #"{"_ab":"true","cid":"c","t":"T","a":"A"}"#, #"{"aps":{"alert":"x"},"ab":{"c":"c"},"custom":{"i":"1"}}"#,
    #"{"data":{"wzrk_pn":"true","nm":"x","push_from":"moengage"},"notification":{"title":"T"}}"#,
    #"{"k":{"k":{"k":[]}},"a":null,"b":true,"c":"{\"k\":1}","d":{},"e":"K"}"#,
].map { Array($0.utf8) }

/// A payload that fulfils as many of the conditions as are compatible.
private func payload(that conditions: [ProviderCondition]) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
        var keys: Set<[UInt8]> = []
        for condition in conditions.flatMap(\.parts) {
            switch condition {
            case .value(let path, let test) where keys.insert(Array(path[0].utf8)).inserted:
                writer.key(path[0])
                for key in path.dropFirst() {
                    writer.beginObject()
                    writer.key(key)
                }
                write(test, to: &writer)
                for _ in path.dropFirst() { writer.endObject() }
            case .keyBeginning(let text) where keys.insert(Array(text.utf8)).inserted,
                .keyContaining(let text) where keys.insert(Array(text.utf8)).inserted:
                writer.member(text, "x")
            case .inText(let key, let condition) where keys.insert(Array(key.utf8)).inserted:
                writer.member(key, String(decoding: payload(that: [condition]), as: UTF8.self))
            case .keyCount, .keyBeginning, .keyContaining, .value, .inText, .every: break
            }
        }
    }
    return writer.bytes
}

extension ProviderCondition {
    /// The conditions in it.
    fileprivate var parts: [ProviderCondition] {
        if case .every(let conditions) = self { conditions.flatMap(\.parts) } else { [self] }
    }
}

private func write(_ test: ProviderCondition.Test, to writer: inout JSONWriter) {
    switch test {
    case .present, .notNull, .truthy: writer.bool(true)
    case .string, .notEmpty, .notBlank: writer.string("x")
    case .equals(let text): writer.string(text)
    case .equalsIgnoringCase(let text): writer.string(text.uppercased())
    case .object: writer.object { _ in }
    case .nonEmptyObject: writer.object { $0.member("k", true) }
    case .jsonText(let key):
        var text = JSONWriter()
        text.object { $0.member(key, true) }
        writer.string(String(decoding: text.bytes, as: UTF8.self))
    }
}
