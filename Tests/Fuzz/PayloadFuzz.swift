import PushModel
import PushRouter
import PushSettings
import PushViews

// Fuzzes the payload forms. Any JSON object, for any platform in any state, must give a decision or an error with a
// field; the same one twice; and either callbacks or an outcome. The output of `explain` must be JSON for programs and
// safe for a terminal. Nothing may trap.

/// The shipped configuration: 21 providers and one route.
private let table: RoutingTable = {
    guard let settings = Settings.load(.shipped).settings else { preconditionFailure("what is shipped has errors") }
    return settings.routing
}()

@c(LLVMFuzzerTestOneInput)
public func fuzzPayload(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let text = Array(UnsafeBufferPointer(start: start, count: count))
    guard let document = try? JSONDocument(scanning: text), document.root.kind == .object else { return 0 }
    for platform in Platform.allCases {
        for state in AppState.allCases {
            for locked in [false, true] {
                check(DeliverRequest(state: state, locked: locked, payload: document.root), on: platform)
            }
        }
        let handedBack = try? HandedBackPayload(document.root, platform: platform, settings: table.detection)
        if let keys = handedBack?.keys { check(keys) }
    }
    return 0
}

private func check(_ deliver: DeliverRequest, on platform: Platform) {
    let delivery = Delivery(deliver, platform: platform)
    do {
        let explanation = try Explanation(deliver, platform: platform, table: table)
        check(explanation)
        let decision = explanation.decision
        check(decision, on: platform)
        let again = try decide(delivery, settings: table.detection)
        precondition(again.invocations == decision.invocations && again.outcome == decision.outcome, "two decisions")
        precondition(again.matches == decision.matches && again.duplicateID == decision.duplicateID, "two owners")
        precondition(again.warnings == decision.warnings, "two opinions")
    } catch {
        precondition(!error.field.isEmpty && !error.message.isEmpty, "an error that says nothing")
        precondition((try? decide(delivery, settings: table.detection)) == nil, "an error only once")
    }
}

private func check(_ decision: Decision, on platform: Platform) {
    precondition(decision.invocations.isEmpty == (decision.outcome != nil), "callbacks and an outcome, or neither")
    precondition((decision.braze != nil) == (decision.provider == "braze"), "facts of Braze's for another's")
    precondition(Set(decision.matches).count == decision.matches.count, "a provider matches twice")
    precondition(decision.providers.allSatisfy { !$0.conditions.isEmpty }, "a match by nothing")
    precondition(!decision.reasons.isEmpty, "no reason")
    let texts = decision.reasons.map(\.description) + decision.warnings.map(\.description)
    precondition(texts.allSatisfy { !$0.isEmpty }, "a reason without words")
    precondition(Set(decision.warnings).count == decision.warnings.count, "a warning twice")
    precondition(decision.message == nil || platform == .android, "FCM's message for another platform")
    precondition(decision.duplicateID == nil || platform == .android, "a list of ids that only FCM has")
    precondition(decision.duplicateID == nil || decision.outcome != .notWoken, "FCM sees what it does not get")
    check(decision.keys)
}

private func check(_ keys: PayloadKeys) {
    for (key, value) in keys.keyValues { precondition(keys.keyValue(key) == value, "two values of one key") }
    _ = keys.data("k")
}

private func check(_ explanation: Explanation) {
    let line = explanation.json
    precondition(!line.contains(UInt8(ascii: "\n")), "not one line")
    guard (try? JSONDocument(scanning: line, limits: JSONLimits(depth: 64))) != nil else {
        preconditionFailure("no JSON: \(String(decoding: line, as: UTF8.self))")
    }
    precondition(explanation.text.hasPrefix("a ") && explanation.text.hasSuffix("\n"), "no text")
}
