import PushModel

/// Checks one custom attribute.
///
/// Sources: Braze docs, user attributes object; custom attributes; nested custom attributes; array of objects.
func checkCustomAttribute(_ name: String, _ value: JSONNode, elementsMax: Int) throws(EntryProblem) {
    try checkCustomAttributeName(name)
    switch value.kind {
    case .string: try value.checkText()
    case .number, .bool, .null: return
    case .array: try checkArray(value, elementsMax: elementsMax)
    case .object:
        if let operation = try AttributeOperation(value) {
            try checkOperation(operation, elementsMax: elementsMax)
        } else {
            try value.checkSize()
            try checkNestedObject(value, elementsMax: elementsMax)
        }
    }
}

/// Checks the name of a custom attribute.
func checkCustomAttributeName(_ name: String) throws(EntryProblem) {
    try checkName(name)
    guard !ReservedName.isReserved(name) else {
        throw EntryProblem(
            .reservedName, "the API reads this name as part of the request, not as an attribute; call it another")
    }
    guard UserField(rawValue: name) == nil else {
        throw EntryProblem(
            .profileField, "is a field of the profile, not a custom attribute; log it with the user attributes")
    }
    guard !ReservedName.isUnsettableField(name) else {
        throw EntryProblem(.profileField, "is a field of the profile that apps cannot set")
    }
}

/// The member names of a `/users/track` attributes object that are not attributes.
enum ReservedName {
    /// Names that identify the profile, and options of the request.
    static func isReserved(_ name: String) -> Bool {
        switch name {
        case "external_id", "braze_id", "user_alias", "alias_name", "alias_label", "_update_existing_only",
            "_merge_objects", "push_token_import":
            true
        default: false
        }
    }

    /// Profile fields that the provider computes itself, or that another API call sets.
    static func isUnsettableField(_ name: String) -> Bool {
        switch name {
        case "date_of_first_session", "date_of_last_session", "email_open_tracking_disabled",
            "email_click_tracking_disabled", "marked_email_as_spam_at", "push_tokens", "facebook", "twitter":
            true
        default: false
        }
    }
}

/// An operation on an attribute: an object whose only member is `add`, `remove` or `inc`. An object that has other
/// members too is a nested attribute, whatever their names are.
enum AttributeOperation {
    case add(JSONNode)
    case remove(JSONNode)
    case increment(JSONNode)

    init?(_ object: JSONNode) throws(EntryProblem) {
        guard object.kind == .object else { return nil }
        let members = object.members
        guard members.allSatisfy({ $0.key == "add" || $0.key == "remove" || $0.key == "inc" }),
            let (name, value) = members.first
        else { return nil }
        guard members.count == 1 else {
            throw EntryProblem(.severalOperations, "must be one of add, remove and inc, not several")
        }
        switch name {
        case "add": self = .add(value)
        case "remove": self = .remove(value)
        default: self = .increment(value)
        }
    }
}

private func checkOperation(_ operation: AttributeOperation, elementsMax: Int) throws(EntryProblem) {
    switch operation {
    case .add(let values): try checkOperand(values, of: "add", elementsMax: elementsMax)
    case .remove(let values): try checkOperand(values, of: "remove", elementsMax: elementsMax)
    case .increment(let step):
        guard step.int64 != nil else {
            throw EntryProblem(.invalidValue, "must be a whole number of 64 bits, written without fraction or exponent")
                .inside("inc")
        }
    }
}

private func checkOperand(_ values: JSONNode, of operation: String, elementsMax: Int) throws(EntryProblem) {
    do throws(EntryProblem) {
        guard values.kind == .array else {
            throw EntryProblem(.wrongType, "must be an array of values, not \(values.kindName)")
        }
        try checkArray(values, elementsMax: elementsMax)
    } catch { throw error.inside(operation) }
}

private func checkArray(_ array: JSONNode, elementsMax: Int) throws(EntryProblem) {
    guard array.count <= elementsMax else {
        throw EntryProblem(
            .tooMany, "an array has at most \(elementsMax) elements (ArrayElementsMax=); this one has \(array.count)")
    }
    for (index, element) in array.elements.enumerated() {
        do throws(EntryProblem) {
            switch element.kind {
            case .string: try element.checkText()
            case .number, .bool: continue
            case .null: throw EntryProblem(.null, "null cannot be an element of an array")
            case .array: throw EntryProblem(.nestedArray, "an array cannot have arrays in it")
            case .object:
                try element.checkSize()
                try checkNestedObject(element, elementsMax: elementsMax)
            }
        } catch { throw error.inside(at: index) }
    }
}

private func checkNestedObject(_ object: JSONNode, elementsMax: Int) throws(EntryProblem) {
    if let time = object["$time"] {
        guard object.count == 1, time.kind == .string else {
            throw EntryProblem(.wrongType, "must be a date as a string, and the only member of its object").inside(
                "$time")
        }
        do throws(EntryProblem) { return try time.checkText() } catch { throw error.inside("$time") }
    }
    for (name, value) in object.members {
        do throws(EntryProblem) {
            try checkName(name)
            guard !name.utf8.contains(where: { $0 == 0x20 || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "$") })
            else { throw EntryProblem(.invalidName, "a name within an attribute has no space, no . and no $") }
            switch value.kind {
            case .string: try value.checkText()
            case .number, .bool, .null: continue
            case .array: try checkArray(value, elementsMax: elementsMax)
            case .object: try checkNestedObject(value, elementsMax: elementsMax)
            }
        } catch { throw error.inside(name) }
    }
}
