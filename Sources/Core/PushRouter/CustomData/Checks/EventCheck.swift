import PushModel

/// Checks an event. The first problem rejects the whole event, as in the API.
///
/// Source: Braze docs, event object.
func checkedEvent(_ object: JSONNode) throws(EntryProblem) -> (name: String, properties: [UInt8]) {
    guard let name = object["name"] else { throw EntryProblem(.missing, "is missing").inside("name") }
    guard let text = name.string else {
        throw EntryProblem(.wrongType, "must be the name of the event, a string, not \(name.kindName)").inside("name")
    }
    do throws(EntryProblem) { try checkName(text) } catch { throw error.inside("name") }
    guard let properties = object["properties"] else { return (text, Array("{}".utf8)) }
    do throws(EntryProblem) { return (text, try checkedProperties(properties)) } catch {
        throw error.inside("properties")
    }
}

private func checkedProperties(_ properties: JSONNode) throws(EntryProblem) -> [UInt8] {
    guard properties.kind == .object else {
        throw EntryProblem(.wrongType, "must be an object of names and values, not \(properties.kindName)")
    }
    guard properties.count <= Limits.properties else {
        throw EntryProblem(
            .tooMany, "an event has at most \(Limits.properties) properties; this one has \(properties.count)")
    }
    let bytes = properties.compactBytes
    guard bytes.count <= Limits.bytes else {
        throw EntryProblem(.tooLong, "the properties have at most \(Limits.bytes) bytes; these have \(bytes.count)")
    }
    for (name, value) in properties.members {
        do throws(EntryProblem) {
            try checkPropertyName(name)
            try checkPropertyValue(value)
        } catch { throw error.inside(name) }
    }
    return bytes
}

/// Checks the name of a property of the event itself.
func checkPropertyName(_ name: String) throws(EntryProblem) {
    // The API answers with an error for such an event. The ledger stores name and time in columns of their own.
    guard name != "time", name != "event_name" else {
        throw EntryProblem(.reservedName, "the API reserves this name; call it another")
    }
    try checkAnyPropertyName(name)
}

private func checkAnyPropertyName(_ name: String) throws(EntryProblem) {
    try checkName(name)
    guard !name.utf8.starts(with: "$".utf8) else {
        throw EntryProblem(.invalidName, "the name of a property does not begin with $")
    }
}

private func checkPropertyValue(_ value: JSONNode) throws(EntryProblem) {
    switch value.kind {
    case .string: try value.checkText()
    case .number, .bool: return
    case .null: throw EntryProblem(.null, "null cannot be the value of a property; leave the property out")
    case .array:
        for (index, element) in value.elements.enumerated() {
            do throws(EntryProblem) { try checkPropertyValue(element) } catch { throw error.inside(at: index) }
        }
    case .object:
        for (name, member) in value.members {
            do throws(EntryProblem) {
                try checkAnyPropertyName(name)
                try checkPropertyValue(member)
            } catch { throw error.inside(name) }
        }
    }
}
