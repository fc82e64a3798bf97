import PushCustomData
import PushModel

extension RequestContent {
    /// The JSON of a request to `/users/track`. An array without elements is left out.
    var body: [UInt8] {
        var body = JSONWriter()
        body.object { body in
            if !attributes.isEmpty {
                body.member("attributes", array: { list in attributes.forEach { $0.append(to: &list) } })
            }
            if !events.isEmpty { body.member("events", array: { list in events.forEach { $0.append(to: &list) } }) }
        }
        return body.bytes
    }
}

extension ClaimedEntry {
    /// Adds the object that stands for the entry in its array.
    ///
    /// `app_id` is left out: it is the provider's own identifier of an app, and what we know is the package or bundle.
    fileprivate func append(to list: inout JSONWriter) {
        list.object { element in
            identifier.members(of: &element)
            // The daemon has checked the data, at whatever depth its settings allow.
            guard let data = try? JSONDocument(scanning: data, limits: JSONLimits(depth: .max)).root else { return }
            guard kind == .customEvent else {
                return data.members.forEach { element.member($0.key, raw: $0.value.rawBytes) }
            }
            element.member("name", name)
            element.member("time", time.rfc3339)
            if data.count > 0 { element.member("properties", raw: data.rawBytes) }
        }
    }
}

extension UserIdentifier {
    /// The one identifier of an element.
    fileprivate func members(of element: inout JSONWriter) {
        switch self {
        case .externalID(let id): element.member("external_id", id)
        case .brazeID(let id): element.member("braze_id", id)
        case .alias(let name, let label):
            element.member(
                "user_alias",
                object: {
                    $0.member("alias_name", name)
                    $0.member("alias_label", label)
                })
            // By an alias alone only profiles that exist are changed, and the rest is dropped without an error. A profile
            // too many can be seen and merged; an entry that vanished cannot.
            element.member("_update_existing_only", false)
        }
    }
}
