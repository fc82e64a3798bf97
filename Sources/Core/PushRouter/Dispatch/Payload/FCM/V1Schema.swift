import PushModel

/// The type of an object in an FCM v1 send body, and the check by the server's JSON parser: no unknown names, and
/// values of the right types.
///
/// Source: the discovery document, revision 20261023, and the JSON mapping of protobuf: both spellings of a name,
/// `null` means absent, enumerations by name or number, integers also as strings.
final class V1Schema: Sendable {
    /// The type of a value.
    indirect enum FieldType: Sendable {
        case string, boolean, integer, number, duration, timestamp
        /// One of these names, in upper or lower case, or its number.
        case name(Names)
        case list(FieldType)
        /// An object whose values are strings.
        case strings
        /// An object with any members.
        case anyObject
        case object(V1Schema)
    }

    /// The names of an enumeration.
    final class Names: ExpressibleByArrayLiteral, Sendable {
        private let all: [String]
        private let places: JSONNames

        init(arrayLiteral names: String...) {
            all = names
            places = JSONNames(names)
        }

        var inWords: String { all.joined(separator: ", ") }

        /// Whether a string is one of the names, in upper or lower case.
        func contain(_ value: JSONView) -> Bool {
            places.place(of: value) != nil || value.string.map { all.contains($0.uppercased()) } == true
        }
    }

    fileprivate final class Field: Sendable {
        let name: String
        let type: FieldType

        init(name: String, type: FieldType) {
            self.name = name
            self.type = type
        }

        /// Checks the value of the field.
        func check(_ value: JSONView) throws(V1Fault) { try type.check(value, of: self) }
    }

    /// The names in both spellings, and the field at the index of each.
    private let names: JSONNames
    private let fields: [Field]

    /// - Parameter fields: the types by name, in snake_case.
    init(_ fields: [String: FieldType]) {
        let spelled = fields.flatMap { name, type in
            let field = Field(name: name, type: type)
            let other = Self.lowerCamelCase(name)
            return other == name ? [(name, field)] : [(name, field), (other, field)]
        }
        names = JSONNames(spelled.map(\.0))
        self.fields = spelled.map(\.1)
    }

    /// Checks an object.
    func check(_ object: JSONView) throws(V1Fault) {
        try object.requireObject()
        for (key, value) in object.members {
            guard let place = names.place(of: key, in: object) else { throw V1Fault(unknownName: key.text) }
            guard value.kind != .null else { continue }
            do {
                try fields[place].check(value)
            } catch {
                throw error.within(".\(fields[place].name)")
            }
        }
    }

    /// Returns the lowerCamelCase spelling of a name in snake_case.
    static func lowerCamelCase(_ name: String) -> String {
        let words = name.split(separator: "_")
        return words.dropFirst().reduce(into: words.first.map(String.init) ?? "") { camel, word in
            camel += word.prefix(1).uppercased() + word.dropFirst()
        }
    }
}

extension V1Schema.FieldType {
    fileprivate func check(_ value: JSONView, of field: V1Schema.Field) throws(V1Fault) {
        switch self {
        case .string: try value.requireString()
        case .boolean: try value.require(value.kind == .bool, "a boolean", "TYPE_BOOL")
        case .integer:
            let whole = value.string.flatMap { Int32($0) } ?? value.double.flatMap { Int32(exactly: $0) }
            try value.require(whole != nil, "a whole number of 32 bits", "TYPE_INT32")
        case .number: try value.require(value.kind == .number || value.isNumberInText, "a number", "TYPE_FLOAT")
        case .duration:
            let type = "type.googleapis.com/google.protobuf.Duration"
            try value.requireString(type)
            try value.require(V1Duration(value) != nil, #"seconds with an s behind, like "3.5s""#, type)
        case .timestamp:
            let type = "type.googleapis.com/google.protobuf.Timestamp"
            try value.requireString(type)
            try value.require(WallTime(rfc3339: value.text) != nil, "a time as RFC 3339 has it", type)
        case .name(let names):
            let isName = value.isString ? names.contain(value) : value.int64 != nil
            try value.require(isName, "one of " + names.inWords, nil)
        case .list(let element):
            try value.require(value.kind == .array, "an array", nil)
            var index = 0
            for value in value.elements {
                do { try element.check(value, of: field) } catch { throw error.within("[\(index)]") }
                index += 1
            }
        case .strings:
            try value.requireObject()
            var index = 0
            for (key, value) in value.members {
                guard value.isString else {
                    throw V1Fault(
                        at: ".\(key.text)", "[\(index)].value", of: value, "TYPE_STRING",
                        "FCM v1 \(field.name) values are strings; this is \(value.kind.name)")
                }
                index += 1
            }
        case .anyObject: try value.requireObject()
        case .object(let schema): try schema.check(value)
        }
    }
}

extension JSONView {
    /// Whether it is a string that protobuf's JSON mapping accepts as a floating point number.
    fileprivate var isNumberInText: Bool {
        guard isString, textLength > 0 else { return false }
        if equals("NaN") || equals("Infinity") || equals("-Infinity") { return true }
        let text = textBytes
        guard !text.contains(where: \.isJSONWhiteSpace), let document = try? JSONDocument(scanning: text) else {
            return false
        }
        return document.root.kind == .number
    }

    fileprivate func requireString(_ type: String = "TYPE_STRING") throws(V1Fault) {
        guard isString else { throw V1Fault(of: self, type, "this has to be a string; it is \(kind.name)") }
    }

    fileprivate func requireObject() throws(V1Fault) {
        guard isObject else { throw V1Fault(of: self, nil, "this has to be an object; it is \(kind.name)") }
    }

    /// - Parameter type: Google's name of the type; `nil` if it was not seen.
    fileprivate func require(
        _ isRight: Bool, _ wanted: @autoclosure () -> String, _ type: @autoclosure () -> String?
    ) throws(V1Fault) {
        guard !isRight else { return }
        let found = kind == .string || kind == .number ? quoted(text) : kind.name
        throw V1Fault(of: self, type(), "this has to be \(wanted()); it is \(found)")
    }
}

extension V1Schema {
    /// `SendMessageRequest`.
    static let body = V1Schema(["message": .object(message), "validate_only": .boolean])

    private static let message = V1Schema([
        "name": .string, "fid": .string, "token": .string, "topic": .string, "condition": .string,
        "data": .strings, "notification": .object(notification), "android": .object(android),
        "android_v2": .object(androidV2), "webpush": .object(webpush), "apns": .object(apns),
        "fcm_options": .object(options),
    ])

    private static let notification = V1Schema(["title": .string, "body": .string, "image": .string])
    private static let options = V1Schema(["analytics_label": .string])

    private static let android = V1Schema([
        "collapse_key": .string, "priority": .name(["NORMAL", "HIGH"]), "ttl": .duration,
        "restricted_package_name": .string, "data": .strings, "notification": .object(androidNotification),
        "fcm_options": .object(options), "direct_boot_ok": .boolean, "bandwidth_constrained_ok": .boolean,
        "restricted_satellite_ok": .boolean,
    ])

    /// The preview generation of `android`.
    private static let androidV2 = V1Schema([
        "collapse_key": .string, "ttl": .duration, "restricted_package_name": .string, "data": .strings,
        "remote_notification": .object(remoteNotification), "background_sync": .object(V1Schema([:])),
        "fcm_options": .object(options), "direct_boot_ok": .boolean, "bandwidth_constrained_ok": .boolean,
        "restricted_satellite_ok": .boolean,
    ])

    private static let remoteNotification = V1Schema([
        "notification": .object(androidNotificationV2), "mutable_content": .boolean,
        "use_as_v1_data_message": .boolean,
    ])

    /// The fields of both generations of the Android notification.
    private static let androidNotificationFields: [String: FieldType] = [
        "title": .string, "body": .string, "icon": .string, "color": .string, "sound": .string, "tag": .string,
        "click_action": .string, "body_loc_key": .string, "body_loc_args": .list(.string), "title_loc_key": .string,
        "title_loc_args": .list(.string), "channel_id": .string, "ticker": .string, "sticky": .boolean,
        "event_time": .timestamp, "local_only": .boolean, "default_sound": .boolean,
        "notification_priority": .name([
            "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX",
        ]),
        "default_vibrate_timings": .boolean, "default_light_settings": .boolean, "vibrate_timings": .list(.duration),
        "visibility": .name(["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]),
        "notification_count": .integer, "light_settings": .object(lightSettings), "image": .string,
    ]

    private static let androidNotification = V1Schema(
        androidNotificationFields.merging([
            "bypass_proxy_notification": .boolean,
            "proxy": .name(["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
        ]) { _, new in new })

    private static let androidNotificationV2 = V1Schema(
        androidNotificationFields.merging(["id": .integer]) { _, new in new })

    private static let lightSettings = V1Schema([
        "color": .object(V1Schema(["red": .number, "green": .number, "blue": .number, "alpha": .number])),
        "light_on_duration": .duration, "light_off_duration": .duration,
    ])

    private static let apns = V1Schema([
        "headers": .strings, "payload": .anyObject, "live_activity_token": .string,
        "fcm_options": .object(V1Schema(["analytics_label": .string, "image": .string])),
    ])

    private static let webpush = V1Schema([
        "headers": .strings, "data": .strings, "notification": .anyObject,
        "fcm_options": .object(V1Schema(["link": .string, "analytics_label": .string])),
    ])
}

/// A fault in an FCM v1 send body. The check that finds it makes the message; its callers add the path, so that a valid
/// body needs no path.
struct V1Fault: Error {
    /// The path from the checked object or value: `.message.data.badge`.
    private var path: String
    /// The path in Google's notation, `.message.data[1].value`; of an unknown name, that of its object.
    private var place: String
    private var problem: Problem

    private enum Problem {
        case unknownName(String)
        case wrongValue(message: String, Value)
    }

    /// A value of the wrong type, as far as Google's answer tells of it. Answers of FCM were seen for strings and arrays;
    /// the names of other types are those of Google's other services (UNVERIFIED).
    private enum Value {
        case array
        case object(names: [String])
        /// The value as it is in the JSON, with Google's name of the wanted type; `nil` if it was not seen.
        case simple(String, wanted: String?)
    }

    /// A value that is invalid.
    ///
    /// - Parameters:
    ///   - path: the path from the checked value, such as `.badge`.
    ///   - place: that path in Google's notation.
    ///   - value: the value.
    ///   - type: Google's name of the wanted type.
    ///   - message: the fault, for people.
    fileprivate init(
        at path: String = "", _ place: String = "", of value: JSONView, _ type: String?, _ message: String
    ) {
        (self.path, self.place) = (path, place)
        let found: Value =
            switch value.kind {
            case .array: .array
            case .object: .object(names: value.members.map(\.key.text))
            default: .simple(String(decoding: value.rawBytes, as: UTF8.self), wanted: type)
            }
        problem = .wrongValue(message: message, found)
    }

    /// An object that has a member with an unknown name.
    fileprivate init(unknownName name: String) {
        path = ".\(name)"
        place = ""
        problem = .unknownName(name)
    }

    /// Returns the fault with a path from the enclosing value.
    ///
    /// - Parameter step: the step from the enclosing value, such as `.message` or `[0]`.
    func within(_ step: String) -> V1Fault {
        var fault = self
        fault.path = step + path
        fault.place = step + place
        return fault
    }

    /// Returns the refusal of the whole body, which is the request's `payload`.
    ///
    /// - Parameter body: the body, for its other names that FCM does not have.
    func refusal(of body: JSONView) -> V1Refusal {
        let message: String
        switch problem {
        case .wrongValue(let text, _): message = text
        case .unknownName(let name):
            let others = V1Schema.body.unknownNames(in: body).map(\.path).filter { $0 != path.dropFirst() }
            let names = others.prefix(Self.othersMax).map { "payload.\($0)\(Self.hint($0))" }
            let more = names.isEmpty ? "" : "; it does not have \(names.joined(separator: " and ")) either"
            message =
                "FCM v1 has no field of this name\(Self.hint(String(path.dropFirst()))): it answers "
                + Self.unknown(name, at: place.dropFirst()) + more
        }
        return V1Refusal(answer(in: body), "payload\(path)", message)
    }

    /// The most names in an answer: a body of some KiB may have thousands.
    private static let violationsMax = 50

    /// Returns the answer of Google's JSON parser.
    func answer(in body: JSONView) -> V1Answer {
        func unknownName(_ name: String, at place: Substring, _ fault: String = "Cannot find field.")
            -> V1Answer.Violation
        {
            V1Answer.Violation(
                field: place.isEmpty ? nil : String(place),
                description: "Invalid JSON payload received. \(Self.unknown(name, at: place)): \(fault)")
        }
        let place = place.dropFirst()
        switch problem {
        case .unknownName:
            return .malformed(
                V1Schema.body.unknownNames(in: body).prefix(Self.violationsMax).map {
                    unknownName($0.name, at: $0.path.dropLast($0.name.count + 1))
                })
        case .wrongValue(_, .object(let names)) where !names.isEmpty:
            // The parser expects a value without fields, so it reports each name in the object as an unknown field.
            return .malformed(names.prefix(Self.violationsMax).map { unknownName($0, at: place) })
        case .wrongValue(_, .array) where place.isEmpty:
            return .malformed([unknownName("", at: "", "Root element must be a message.")])
        case .wrongValue(_, .array):
            let end = place.lastIndex(of: ".") ?? place.startIndex
            let name = place[end...].drop { $0 == "." }
            return .malformed([
                unknownName(String(name), at: place[..<end], "Proto field is not repeating, cannot start list.")
            ])
        case .wrongValue(_, .simple(let value, let type?)):
            let text = "Invalid value at '\(place)' (\(type)), \(value)"
            return .malformed([V1Answer.Violation(field: String(place), description: text)])
        case .wrongValue:
            return .malformed([V1Answer.Violation(field: String(place), description: V1Answer.anyText)])
        }
    }

    private static func unknown(_ name: String, at place: Substring) -> String {
        #"Unknown name "\#(name)""# + (place.isEmpty ? "" : " at '\(place)'")
    }

    /// The number of further names in a message.
    private static let othersMax = 8

    /// Returns the field of FCM v1 for a name of the API before it; empty if none is known.
    ///
    /// Source: Firebase, "Migrate from legacy FCM APIs to HTTP v1", and the discovery document.
    private static func hint(_ path: String) -> String {
        let names = path.split(separator: ".")
        guard let name = names.last, names.dropLast().first ?? "message" == "message" else { return "" }
        let fields: [Substring: String] = [
            "to": "token", "priority": "android.priority", "time_to_live": "android.ttl", "ttl": "android.ttl",
            "collapse_key": "android.collapse_key", "content_available": "apns.payload.aps.content-available",
            "contentAvailable": "apns.payload.aps.content-available",
            "mutable_content": "apns.payload.aps.mutable-content",
            "mutableContent": "apns.payload.aps.mutable-content",
            "restricted_package_name": "android.restricted_package_name",
        ]
        let ofNotification: [Substring: String] = [
            "android_channel_id": "channel_id", "channel_id": "channel_id", "sound": "sound", "icon": "icon",
            "color": "color", "tag": "tag", "click_action": "click_action", "body_loc_key": "body_loc_key",
            "title_loc_key": "title_loc_key",
        ]
        if names.count == 3, names[1] == "notification" {
            if name == "badge" { return ", which is message.apns.payload.aps.badge " }
            return ofNotification[name].map { ", but message.android.notification.\($0)" } ?? ""
        }
        if names == ["message", "android", "channel_id"] || names == ["message", "android", "channelId"] {
            return ", but message.android.notification.channel_id"
        }
        if names.dropLast() == ["message", "android", "notification"], let field = ofNotification[name], field != name {
            return ", but message.android.notification.\(field)"
        }
        if names == ["dry_run"] { return ", but validate_only" }
        return names.count == 2 ? fields[name].map { ", but message.\($0)" } ?? "" : ""
    }
}

extension V1Schema {
    /// Returns all members with names that the type does not have, in order.
    fileprivate func unknownNames(in object: JSONView, at path: String = "") -> [(path: String, name: String)] {
        guard object.isObject else { return [] }
        var unknown: [(path: String, name: String)] = []
        for (key, value) in object.members {
            guard let place = names.place(of: key, in: object) else {
                unknown.append((path + key.text, key.text))
                continue
            }
            if case .object(let schema) = fields[place].type {
                unknown += schema.unknownNames(in: value, at: "\(path)\(fields[place].name).")
            }
        }
        return unknown
    }
}
