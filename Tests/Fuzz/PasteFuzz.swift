import PushModel
import PushRouter
import PushSettings
import PushViews

// Fuzzes the reader of what people paste: any text, for each platform and for none, with repairs and without. It gives a
// payload or an error with words, the same one twice; a payload that it gives is JSON, and the explanation takes it.
// Nothing may trap, and nothing may take long.

/// The shipped configuration.
private let table: RoutingTable = {
    guard let settings = Settings.load(.shipped).settings else { preconditionFailure("what is shipped has errors") }
    return settings.routing
}()

@c(LLVMFuzzerTestOneInput)
public func fuzzPaste(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let text = Array(UnsafeBufferPointer(start: start, count: count))
    for platform in [nil] + Platform.allCases.map(Optional.some) {
        for repairs in [false, true] { check(text, for: platform, repairs: repairs) }
    }
    return 0
}

private func check(_ text: [UInt8], for platform: Platform?, repairs: Bool) {
    do throws(PayloadFormError) {
        let found = try PayloadEnvelope.read(text, for: platform, limits: JSONLimits(), repairs: repairs)
        precondition((0...PayloadEnvelope.othersMax).contains(found.others), "a number of others out of range")
        precondition(found.facts.name?.isEmpty != true && found.facts.remarks.allSatisfy { !$0.isEmpty }, "no words")
        guard let document = try? JSONDocument(scanning: found.facts.json) else {
            preconditionFailure("no JSON: \(String(decoding: found.facts.json, as: UTF8.self))")
        }
        guard document.root.kind == .object else { return }
        // A payload that the daemon refuses is refused with a field.
        let deliver = DeliverRequest(state: .background, locked: false, payload: document.root)
        do {
            let explanation = try Explanation(
                deliver, platform: found.facts.platform ?? platform ?? .android, table: table)
            precondition(explanation.text.hasSuffix("\n"), "no text")
        } catch {
            precondition(!error.field.isEmpty && !error.message.isEmpty, "an error that says nothing")
        }
    } catch {
        precondition(!error.message.isEmpty, "an error that says nothing")
        precondition(
            (try? PayloadEnvelope.read(text, for: platform, limits: JSONLimits(), repairs: repairs)) == nil,
            "an error only once")
    }
}
