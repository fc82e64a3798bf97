import PushModel
import PushRouter
import PushSettings

extension RequestContent {
    /// The JSON of a request to `/users/track`, without empty arrays.
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
    /// Adds the entry's object to its array.
    ///
    /// Without `app_id`: it is Braze's own id of an app, and the entry has the package name or bundle id.
    fileprivate func append(to list: inout JSONWriter) {
        list.object { element in
            identifier.members(of: &element)
            // The daemon has checked the data, up to the depth of its settings.
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
    /// Writes the identifier of an element.
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
            // With an alias alone Braze would update only existing profiles and drop the rest without an error. An
            // extra profile can be seen and merged; a dropped entry cannot.
            element.member("_update_existing_only", false)
        }
    }
}
