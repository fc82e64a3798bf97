import PushModel

/// The three arrays in `UserDefaults` in which the documented samples of a notification extension (Braze docs, Push
/// analytics and custom event logging, the helper `RemoteStorage`) keep entries until the app starts, and the mistakes
/// of the samples.
struct RemoteStorage {
    /// An entry that can be sent, as `op: log` takes it.
    struct Entry {
        let kind: EntryKind
        /// The place in the file: `pending_custom_events[2]`.
        let place: String
        /// The members `name` and `properties`, or `attributes`.
        let members: [(key: String, value: StoredValue)]
    }

    /// The valid entries, in the order of the file's arrays.
    private(set) var entries: [Entry] = []
    /// The mistakes, each with its place: `pending_custom_events[2]`.
    private(set) var mistakes: [String] = []
    /// The number of entries that cannot be sent.
    private(set) var lost = 0

    /// The key of an event's name.
    private static let eventName = "event_name"

    /// - Parameter root: the dictionary of the app's defaults.
    /// - Throws: when it has none of the samples' keys.
    init(_ root: StoredValue) throws(PropertyListError) {
        guard case .object(let members) = root else {
            throw PropertyListError("it is \(root.noun), not a dictionary with the app's keys")
        }
        let keys = EntryKind.allCases.map(\.storageKey)
        guard keys.contains(where: { root[$0] != nil }) else {
            throw PropertyListError("it has none of the keys \(keys.joined(separator: ", "))")
        }
        // Other keys are the app's own settings, except misspelled ones.
        for (key, _) in members where !keys.contains(key) {
            if let near = nearest(to: key, among: keys) { mistakes.append("\(key): not read; did you mean \(near)?") }
        }
        for kind in EntryKind.allCases {
            guard let stored = root[kind.storageKey] else { continue }
            guard let elements = stored.list else {
                lose("\(kind.storageKey)", "it is \(stored.noun), not an array")
                continue
            }
            for (index, element) in elements.enumerated() {
                let place = "\(kind.storageKey)[\(index)]"
                switch kind {
                case .customEvent: addEvent(element, place)
                case .customAttributes: addAttributes(element, place)
                case .userAttributes: addUserAttributes(element, place)
                }
            }
        }
    }

    // MARK: The three kinds

    private mutating func addEvent(_ element: StoredValue, _ place: String) {
        guard case .object(let members) = element else {
            return lose(place, "it is \(element.noun), not a dictionary with \(Self.eventName)")
        }
        guard let (key, name) = Self.name(in: members) else {
            return lose(place, "it has no \(Self.eventName), so the event has no name")
        }
        guard let text = name.text else {
            return lose(place, "\(key) is \(name.noun), not a string: the samples print a line and drop the event")
        }
        if key != Self.eventName {
            mistakes.append(
                "\(place): its name is under \(key), not \(Self.eventName): the samples would not find it; imported")
        }
        let properties = members.filter { $0.key != key }
        guard let bad = properties.first(where: { !$0.value.isJSON }) else {
            let object: [(key: String, value: StoredValue)] =
                properties.isEmpty ? [] : [(key: "properties", value: .object(properties))]
            return entries.append(
                Entry(kind: .customEvent, place: place, members: [(key: "name", value: .text(text))] + object))
        }
        lose(place, "\(bad.key) is \(bad.value.noun), which no property of an event can be")
    }

    /// The name of an event. Other spellings of its key are accepted: in the Swift sample each app defines the
    /// enumeration of keys.
    private static func name(
        in members: [(key: String, value: StoredValue)]
    ) -> (key: String, value: StoredValue)? {
        members.first { $0.key == eventName }
            ?? members.first { $0.key.lowercased().filter(\.isLetter) == "eventname" }
    }

    private mutating func addAttributes(_ element: StoredValue, _ place: String) {
        guard case .object(let members) = element else { return lose(place, "it is \(element.noun), not a dictionary") }
        guard !members.isEmpty else { return lose(place, "it is empty") }
        if members.contains(where: { $0.key == Self.eventName }) {
            mistakes.append(
                "\(place): it has \(Self.eventName), so it is an event: an older Objective-C sample stores events among the "
                    + "attributes; imported as an event")
            return addEvent(element, place)
        }
        if let bad = members.first(where: { !$0.value.isJSON }) {
            return lose(place, "\(bad.key) is \(bad.value.noun), which no attribute can be")
        }
        entries.append(
            Entry(kind: .customAttributes, place: place, members: [(key: "attributes", value: .object(members))]))
    }

    private mutating func addUserAttributes(_ element: StoredValue, _ place: String) {
        var members: [(key: String, value: StoredValue)]
        do {
            members = try Self.fields(of: element)
        } catch {
            return lose(place, error.message)
        }
        guard !members.isEmpty else {
            return lose(place, "it has no field: an older Swift sample fails on it, and drops it")
        }
        if let index = members.firstIndex(where: { $0.key == "phone_number" }) {
            mistakes.append("\(place): imported as phone, the name of phone_number in /users/track")
            members[index].key = "phone"
        }
        entries.append(
            Entry(kind: .userAttributes, place: place, members: [(key: "attributes", value: .object(members))]))
    }

    /// The fields of a stored `UserAttribute`: a dictionary, or data made by Swift's `PropertyListEncoder` or
    /// Objective-C's `NSKeyedArchiver`. Data in JSON is base64.
    private static func fields(
        of element: StoredValue
    ) throws(PropertyListError) -> [(key: String, value: StoredValue)] {
        switch element {
        case .object(let members): return try checked(members)
        case .text(let text):
            guard let bytes = base64(text) else {
                throw PropertyListError("it is a string, and no base64 of an encoded UserAttribute")
            }
            return try fields(of: .data(bytes))
        case .data(let bytes):
            guard let value = try PropertyList.read(bytes, .nested(length: bytes.count)),
                case .object(let members) = value
            else {
                throw PropertyListError("the data is no encoded UserAttribute")
            }
            return try value["$objects"] == nil ? checked(members) : fieldsOfArchive(value)
        default: throw PropertyListError("it is \(element.noun), not an encoded UserAttribute")
        }
    }

    private static func checked(
        _ members: [(key: String, value: StoredValue)]
    ) throws(PropertyListError) -> [(key: String, value: StoredValue)] {
        guard let bad = members.first(where: { !$0.value.isJSON }) else { return members }
        throw PropertyListError("\(bad.key) is \(bad.value.noun), but no field of a profile has this type")
    }

    /// The Objective-C sample archives the value and the number of its type; its only type is the email.
    private static func fieldsOfArchive(
        _ archive: StoredValue
    ) throws(PropertyListError) -> [(key: String, value: StoredValue)] {
        let objects = archive["$objects"]?.list ?? []
        guard let attribute = objects.first(where: { $0["userField"] != nil }),
            case .reference(let place)? = attribute["userField"], objects.indices.contains(place)
        else { throw PropertyListError("the archive has no UserAttribute in the form of the Objective-C sample") }
        guard case .number("0")? = attribute["attributeType"] else {
            throw PropertyListError(
                "its attributeType is not 0, the email: the app alone knows the fields of other numbers")
        }
        // The first object of an archive is nil.
        guard place != 0, let email = objects[place].text else { return [] }
        return [(key: "email", value: .text(email))]
    }

    private mutating func lose(_ place: String, _ reason: String) {
        mistakes.append("\(place): not sent: \(reason)")
        lost += 1
    }
}
