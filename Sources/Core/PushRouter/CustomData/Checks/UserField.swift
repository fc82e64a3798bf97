import PushModel

/// The fields of a profile that an app can set, by their names in `POST /users/track`.
///
/// Source: Braze docs, user attributes object.
enum UserField: String, CaseIterable {
    case email
    case firstName = "first_name"
    case lastName = "last_name"
    case phone
    case dateOfBirth = "dob"
    case country
    case homeCity = "home_city"
    case language
    case gender
    case timeZone = "time_zone"
    case currentLocation = "current_location"
    case emailSubscribe = "email_subscribe"
    case pushSubscribe = "push_subscribe"
    case subscriptionGroups = "subscription_groups"

    /// The SDK methods' name for `phone`.
    static let phoneOfTheSDKs = "phone_number"

    /// Finds the field by its API name or by the SDKs' `phone_number`.
    init(checking name: String) throws(EntryProblem) {
        guard let field = name == Self.phoneOfTheSDKs ? .phone : UserField(rawValue: name) else {
            throw Self.unknown(name)
        }
        self = field
    }

    /// Checks one of the user attributes.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - value: its value; `null` clears the field.
    ///   - attributes: all of them.
    /// - Returns: the field that it is.
    static func check(_ name: String, _ value: JSONNode, in attributes: JSONNode) throws(EntryProblem) -> UserField {
        if name == phoneOfTheSDKs, attributes["phone"] != nil {
            throw EntryProblem(.givenTwice, "is the same as phone, which is given too")
        }
        let field = try UserField(checking: name)
        try field.check(value)
        return field
    }

    private static func unknown(_ name: String) -> EntryProblem {
        if ReservedName.isReserved(name) {
            return EntryProblem(.reservedName, "identifies the profile or controls the request; it is not an attribute")
        }
        if ReservedName.isUnsettableField(name) {
            return EntryProblem(.profileField, "is a field of the profile that apps cannot set")
        }
        return EntryProblem(.unknownField, "is not a field of the profile; log it with the custom attributes")
    }

    private func check(_ value: JSONNode) throws(EntryProblem) {
        if self == .subscriptionGroups { return try checkSubscriptionGroups(value) }
        if value.kind == .null { return }
        if self == .currentLocation { return try checkLocation(value) }
        guard let text = value.string else {
            throw EntryProblem(.wrongType, "must be a string or null, not \(value.kindName)")
        }
        try value.checkText()
        if let expectation = expectation(brokenBy: text) { throw EntryProblem(.invalidValue, "must be \(expectation)") }
    }

    /// Returns the expected form if `text` breaks it; `nil` if `text` is valid.
    private func expectation(brokenBy text: String) -> String? {
        switch self {
        case .firstName, .lastName, .homeCity, .currentLocation, .subscriptionGroups: nil
        case .email: isEmailAddress(text) ? nil : "an address such as name@company.com, or null"
        case .phone: isPhoneNumber(text) ? nil : "a number of 3 to 15 digits, best such as +4915112345678, or null"
        case .dateOfBirth:
            WallTime(rfc3339: text + "T00:00:00Z") != nil ? nil : "a date such as 1980-12-31 that exists, or null"
        case .country: isTwoLetters(text) ? nil : "a country's two letters (ISO 3166-1) such as DE, or null"
        case .language: isTwoLetters(text) ? nil : "a language's two letters (ISO 639-1) such as de, or null"
        case .gender: isOneOf(["M", "F", "O", "N", "P"], text) ? nil : "M, F, O, N, P or null"
        case .timeZone: isTimeZone(text) ? nil : "the name of a zone such as Europe/Berlin, or null"
        case .emailSubscribe, .pushSubscribe:
            isOneOf(["opted_in", "subscribed", "unsubscribed"], text)
                ? nil : "opted_in, subscribed, unsubscribed or null"
        }
    }
}

private func checkLocation(_ value: JSONNode) throws(EntryProblem) {
    guard value.kind == .object, value.count == 2, let longitude = value["longitude"]?.double,
        let latitude = value["latitude"]?.double
    else {
        throw EntryProblem(
            .wrongType, "must be an object with the numbers longitude and latitude and nothing else, or null")
    }
    guard (-180...180).contains(longitude) else {
        throw EntryProblem(.invalidValue, "must be from -180 to 180").inside("longitude")
    }
    guard (-90...90).contains(latitude) else {
        throw EntryProblem(.invalidValue, "must be from -90 to 90").inside("latitude")
    }
}

/// Checks the groups. Unnamed groups keep their state, so `null` has no meaning here.
private func checkSubscriptionGroups(_ value: JSONNode) throws(EntryProblem) {
    guard value.kind == .array, value.count > 0 else {
        throw EntryProblem(.wrongType, "must be an array of groups, at least one")
    }
    for (index, group) in value.elements.enumerated() {
        do throws(EntryProblem) { try checkSubscriptionGroup(group) } catch { throw error.inside(at: index) }
    }
}

private func checkSubscriptionGroup(_ group: JSONNode) throws(EntryProblem) {
    guard group.kind == .object else {
        throw EntryProblem(
            .wrongType, "must be an object with subscription_group_id and subscription_state, not \(group.kindName)")
    }
    guard let id = group["subscription_group_id"], let text = id.string, !text.isEmpty else {
        throw EntryProblem(.missing, "must be the id of the group, a string").inside("subscription_group_id")
    }
    do throws(EntryProblem) { try id.checkText() } catch { throw error.inside("subscription_group_id") }
    guard let state = group["subscription_state"]?.string, isOneOf(["subscribed", "unsubscribed"], state) else {
        throw EntryProblem(.invalidValue, "must be subscribed or unsubscribed").inside("subscription_state")
    }
}

/// Accepts one `@` with text on both sides and no white space. Only a sent mail proves that the address exists.
private func isEmailAddress(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
}

/// Accepts E.164, which the API recommends, and national forms, which it accepts too.
private func isPhoneNumber(_ text: String) -> Bool {
    let digits = text.utf8.count { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    let others = text.utf8.dropFirst(text.utf8.first == UInt8(ascii: "+") ? 1 : 0)
    return (3...15).contains(digits) && others.allSatisfy { "0123456789 ()-./".utf8.contains($0) }
}

private func isTwoLetters(_ text: String) -> Bool { text.utf8.count == 2 && text.utf8.allSatisfy(isLetter) }

/// Accepts `Area/City`, `Area/Region/City`, `UTC` and `GMT`. The list of zones changes, so the name is not looked up.
private func isTimeZone(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count) else { return isOneOf(["UTC", "GMT"], text) }
    return parts.allSatisfy { part in
        part.first.map(isLetter) == true
            && part.allSatisfy { isLetter($0) || "0123456789_+-".utf8.contains($0) }
    }
}

private func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }

private func isOneOf(_ names: [String], _ text: String) -> Bool { names.contains { $0.utf8.elementsEqual(text.utf8) } }
