import PushModel

/// The type of an object in the send body of FCM v1, and the check that the server's JSON reader makes: no names that it
/// does not know, and the type of every value.
///
/// Source: the discovery document, revision 20261023, and the JSON mapping of protobuf: both spellings of a name,
/// `null` as good as absent, enumerations by name or number, whole numbers in a string too.
struct V1Schema: Sendable {
    /// The type of a value.
    indirect enum FieldType: Sendable {
        case string, boolean, integer, number, duration, timestamp
        /// One of these names, in upper or lower case, or its number.
        case name([String])
        case list(FieldType)
        /// An object whose values are strings.
        case strings
        /// An object, whatever is in it.
        case anyObject
        case object(V1Schema)
    }

    private struct Field: Sendable {
        let name: String
        let type: FieldType
    }

    /// By either spelling.
    private let fields: [String: Field]

    /// - Parameter fields: the types by name, in snake_case.
    init(_ fields: [String: FieldType]) {
        var spelled: [String: Field] = [:]
        for (name, type) in fields {
            let field = Field(name: name, type: type)
            spelled[name] = field
            spelled[Self.lowerCamelCase(name)] = field
        }
        self.fields = spelled
    }

    /// Checks an object; `path` says where it stands.
    func check(_ object: JSONNode, at path: String) throws(PayloadError) {
        for (name, value) in try object.requiringObject(path).members {
            guard let field = fields[name] else {
                let place = path.dropFirst("payload.".count)
                throw PayloadError(
                    field: "\(path).\(name)",
                    message: #"FCM v1 has no field of this name: it answers Unknown name "\#(name)" at '\#(place)'"#)
            }
            guard value.kind != .null else { continue }
            try field.type.check(value, at: "\(path).\(field.name)", name: field.name)
        }
    }

    /// The other spelling of a name in snake_case.
    static func lowerCamelCase(_ name: String) -> String {
        let words = name.split(separator: "_")
        return words.dropFirst().reduce(into: words.first.map(String.init) ?? "") { camel, word in
            camel += word.prefix(1).uppercased() + word.dropFirst()
        }
    }
}

extension V1Schema.FieldType {
    fileprivate func check(_ value: JSONNode, at path: String, name: String) throws(PayloadError) {
        switch self {
        case .string: _ = try value.requiringString(path)
        case .boolean: try require(value.kind == .bool, "a boolean", value, at: path)
        case .integer:
            let whole = value.string.flatMap { Int32($0) } ?? value.double.flatMap { Int32(exactly: $0) }
            try require(whole != nil, "a whole number of 32 bits", value, at: path)
        case .number: try require(value.kind == .number, "a number", value, at: path)
        case .duration:
            let text = try value.requiringString(path)
            try require(V1Duration(text) != nil, #"seconds with an s behind, like "3.5s""#, value, at: path)
        case .timestamp:
            let text = try value.requiringString(path)
            try require(WallTime(rfc3339: text) != nil, "a time as RFC 3339 has it", value, at: path)
        case .name(let names):
            let isName = value.string.map { names.contains($0.uppercased()) } ?? (value.int64 != nil)
            try require(isName, "one of " + names.joined(separator: ", "), value, at: path)
        case .list(let element):
            try require(value.kind == .array, "an array", value, at: path)
            for (index, value) in value.elements.enumerated() {
                try element.check(value, at: "\(path)[\(index)]", name: name)
            }
        case .strings:
            for (key, value) in try value.requiringObject(path).members where value.kind != .string {
                throw PayloadError(
                    field: "\(path).\(key)", message: "FCM v1 \(name) values are strings; this is \(value.kind.name)")
            }
        case .anyObject: _ = try value.requiringObject(path)
        case .object(let schema): try schema.check(value, at: path)
        }
    }

    private func require(
        _ isRight: Bool, _ wanted: String, _ value: JSONNode, at path: String
    ) throws(PayloadError) {
        guard !isRight else { return }
        let found = value.kind == .string || value.kind == .number ? quoted(value.text) : value.kind.name
        throw PayloadError(field: path, message: "this has to be \(wanted); it is \(found)")
    }
}

/// A `google.protobuf.Duration` in JSON: seconds with up to nine decimals and an `s` behind.
struct V1Duration: Hashable, Sendable {
    /// The whole seconds, rounded down to zero, and without their sign.
    let seconds: Int64
    /// Whether the rest is not zero.
    let hasFraction: Bool
    /// Whether it is below zero.
    let isNegative: Bool

    /// Reads the text; `nil` when it is none.
    init?(_ text: String) {
        guard text.utf8.last == UInt8(ascii: "s") else { return nil }
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let digits = text.dropLast().dropFirst(isNegative ? 1 : 0)
        let parts = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isDigit) }),
            let seconds = Int64(parts[0]), seconds <= 315_576_000_000,
            parts.count == 1 || parts[1].utf8.count <= 9
        else { return nil }
        self.seconds = seconds
        hasFraction = parts.count == 2 && parts[1].utf8.contains { $0 != UInt8(ascii: "0") }
        self.isNegative = isNegative && (seconds > 0 || hasFraction)
    }
}

private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

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

    /// The preview.
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

    /// What both generations of the Android notification have.
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
