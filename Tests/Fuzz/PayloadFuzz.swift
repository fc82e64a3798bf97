import PushDispatch
import PushModel

// Fuzzes the payload forms. Any JSON object, given for any platform in any state, must give a decision or an error that
// names a field; the same one when asked again; and either callbacks or an outcome. Nothing may trap.

@c(LLVMFuzzerTestOneInput)
public func fuzzPayload(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let text = Array(UnsafeBufferPointer(start: start, count: count))
    guard let document = try? JSONDocument(scanning: text), document.root.kind == .object else { return 0 }
    for platform in Platform.allCases {
        for state in AppState.allCases {
            for locked in [false, true] {
                check(Delivery(platform: platform, state: state, locked: locked, payload: document.root))
            }
        }
        let handedBack = try? HandedBackPayload(document.root, platform: platform)
        _ = handedBack?.keys?.data("k")
        _ = handedBack?.keys?.keyValue("k")
    }
    return 0
}

private func check(_ delivery: Delivery) {
    do {
        let decision = try decide(delivery)
        precondition(decision.invocations.isEmpty == (decision.outcome != nil), "callbacks and an outcome, or neither")
        precondition((decision.provider == nil) == decision.matches.isEmpty, "a provider that does not match")
        precondition((decision.braze != nil) == (decision.provider == "braze"), "facts of Braze's for another's")
        precondition(!decision.reasons.isEmpty, "no reason")
        let texts = decision.reasons.map(\.description) + decision.warnings.map(\.description)
        precondition(texts.allSatisfy { !$0.isEmpty }, "a reason without words")
        let again = try decide(delivery)
        precondition(again.invocations == decision.invocations && again.outcome == decision.outcome, "two decisions")
    } catch {
        precondition(!error.field.isEmpty && !error.message.isEmpty, "an error that says nothing")
        precondition((try? decide(delivery)) == nil, "an error only once")
    }
}
