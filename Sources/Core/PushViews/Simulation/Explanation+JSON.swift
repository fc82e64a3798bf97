import PushModel
import PushRouter

extension Explanation {
    /// The object that `pushctl explain --json` prints, on one line without a line feed. Its last members are
    /// `confidence` of the owner's rule, `rules` with the source of each matching rule, `remarks`, `tracks`,
    /// `unmatched_routes` if there are any, `shown`, and for a Braze payload `tap`.
    public var json: [UInt8] {
        var writer = JSONWriter(reserving: 1024)
        writer.object { writer in
            writer.member("platform", platform.rawValue)
            writer.member("transport", decision.transport.rawValue)
            writer.member("state", state.rawValue)
            writer.member("mode", mode.rawValue)
            writer.member("provider", decision.provider)
            writer.member("matches", array: { names in decision.matches.forEach { names.string($0) } })
            writer.member("ambiguous", decision.matches.count > 1)
            writer.key("braze")
            if let braze = decision.braze { writer.object { write(braze, to: &$0) } } else { writer.null() }
            writer.key("message")
            if let message = decision.message { message.write(to: &writer) } else { writer.null() }
            writer.member("invocations", array: { list in invocations.forEach { $0.write(to: &list) } })
            writer.member("outcome", decision.outcome?.rawValue)
            writer.member("reasons", array: { list in reasons.forEach { list.string($0) } })
            writer.member("reason_codes", array: { list in reasonCodes.forEach { list.string($0.rawValue) } })
            writer.member("warnings", array: { list in warnings.forEach { list.string($0) } })
            writer.member("confidence", decision.providers.first?.confidence.rawValue)
            writer.member("rules", array: { list in decision.providers.forEach { $0.write(to: &list) } })
            writer.member("remarks", array: { list in remarks.forEach { list.string($0) } })
            writer.member(
                "tracks",
                array: { list in
                    tracked.forEach { $0.write(to: &list, of: nil) }
                    for tracked in trackedActs { tracked.entries.forEach { $0.write(to: &list, of: tracked.act) } }
                })
            if !unmatchedRoutes.isEmpty {
                writer.member("unmatched_routes", array: { list in unmatchedRoutes.forEach { $0.write(to: &list) } })
            }
            writer.key("shown")
            shown.write(to: &writer)
            if decision.braze != nil { writer.member("tap", object: { $0.members(of: tap) }) }
        }
        return writer.bytes
    }

    private func write(_ braze: BrazeFacts, to writer: inout JSONWriter) {
        writer.member("kind", braze.kind.rawValue)
        writer.member("campaign_id", braze.campaignID)
        writer.member("features", array: { list in braze.features.forEach { list.string($0.rawValue) } })
        writer.member("counts_for_influenced_open", countsForInfluencedOpen)
        writer.member("actions", array: { list in braze.actions.forEach { $0.write(to: &list) } })
        writer.member("deep_link", braze.deepLink)
        writer.member("key_values", object: { pairs in decision.keys.keyValues.forEach { pairs.member($0, $1) } })
    }
}

extension ProviderMatch {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("provider", provider.name)
            $0.member("origin", rule.origin?.rawValue)
            $0.member("source", rule.source)
            $0.member("confidence", confidence.rawValue)
        }
    }
}

extension BrazeFacts.Action {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("id", id)
            $0.member("kind", kind.rawValue)
            $0.member("title", title)
            $0.member("uri", uri)
        }
    }
}

extension RemoteMessage {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("message_id", messageID)
            $0.member("message_type", messageType)
            $0.member("from", from)
            $0.member("to", to)
            $0.member("sender_id", senderID)
            $0.member("collapse_key", collapseKey)
            $0.member("sent_time", sentTime)
            $0.member("ttl", ttl)
            $0.member("original_priority", originalPriority?.rawValue ?? "unknown")
            $0.member("priority", priority?.rawValue ?? "unknown")
            $0.key("notification")
            guard let notification else { return $0.null() }
            $0.object { fields in notification.forEach { fields.member($0.name, $0.text) } }
        }
    }
}

extension TrackedData {
    fileprivate func write(to writer: inout JSONWriter, of act: UserAct?) {
        writer.object {
            $0.member("track", rule)
            $0.member("on", (act?.track.occasion ?? .received).rawValue)
            if let button = act?.track.button { $0.member("action", button) }
            $0.member("kind", kind.rawValue)
            if let identifier { $0.member(of: identifier) }
            for (key, value) in object.members { $0.member(key, raw: value.rawBytes) }
            $0.key("rejected")
            guard let fault else { return $0.null() }
            $0.object {
                $0.member("field", fault.field)
                $0.member("reason_code", fault.code.rawValue)
                $0.member("message", fault.message)
            }
        }
    }
}

extension UnmatchedRoute {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("route", route)
            $0.member("callback", callback.rawValue)
            $0.member("observe", observes)
            $0.member("reason", reason)
        }
    }
}

extension Explanation.Invocation {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("callback", planned.callback.rawValue)
            $0.member("owner", isObserver ? "observer" : planned.owner == .tracker ? "tracker" : "route")
            $0.member("route", route)
            $0.member("handler", handler)
            $0.member("deadline_ms", budget.milliseconds)
            guard let breaker else { return }
            $0.member(
                "breaker",
                object: {
                    $0.member("failures", breaker.failures)
                    $0.member("window_ms", breaker.window.milliseconds)
                    $0.member("pause_ms", breaker.pause.milliseconds)
                    $0.member("route_while_open", routeWhileOpen)
                })
        }
    }
}
