import PushModel

/// The checked parts of a logged object: the part to keep and the parts to reject.
struct CheckedEntry {
    struct RejectedPart {
        var problem: EntryProblem
        /// The name, if the logged object is an event.
        var name: String?
        /// The value as logged, without white space; empty when it is missing.
        var data: [UInt8]

        init(_ problem: EntryProblem, name: String?, data: [UInt8]) {
            self.problem = problem
            self.name = name
            self.data = data
        }

        /// Rejects the whole logged object.
        init(refusing kind: EntryKind, _ object: JSONNode, _ problem: EntryProblem) {
            let isEvent = kind == .customEvent
            self.init(
                problem, name: isEvent ? object["name"]?.string : nil,
                data: object[isEvent ? "properties" : "attributes"]?.compactBytes ?? [])
        }

        /// The rejected part without its data, its name cut to the maximum length.
        var withoutData: RejectedPart {
            let start = name.map { String(String.UnicodeScalarView($0.unicodeScalars.prefix(Limits.characters))) }
            return RejectedPart(problem, name: start, data: [])
        }
    }

    /// The name of an event.
    private(set) var name: String?
    /// The event's properties, or the valid attributes; `nil` if nothing is valid.
    private(set) var data: [UInt8]?
    /// The invalid event as a whole, or each invalid attribute.
    private(set) var rejectedParts: [RejectedPart] = []

    init(_ kind: EntryKind, _ object: JSONNode, for destination: EntryDestination, _ rules: CustomDataRules) {
        do throws(EntryProblem) {
            try destination.check()
            switch kind {
            case .customEvent: (name, data) = try checkedEvent(object)
            case .customAttributes, .userAttributes: try checkAttributes(kind, object, rules)
            }
        } catch {
            rejectedParts = [RejectedPart(refusing: kind, object, error)]
        }
    }

    /// Rejects each invalid attribute by itself and keeps the valid ones.
    private mutating func checkAttributes(
        _ kind: EntryKind, _ object: JSONNode, _ rules: CustomDataRules
    ) throws(EntryProblem) {
        guard let attributes = object["attributes"] else {
            throw EntryProblem(.missing, "is missing").inside("attributes")
        }
        guard attributes.kind == .object else {
            throw EntryProblem(.wrongType, "must be an object of names and values, not \(attributes.kindName)").inside(
                "attributes")
        }
        guard attributes.count > 0 else { throw EntryProblem(.empty, "has no attribute in it").inside("attributes") }
        try attributes.checkSizeTogether()
        var right = JSONWriter(reserving: attributes.rawBytes.count)
        right.beginObject()
        var wrong: [(problem: EntryProblem, name: String, value: JSONNode)] = []
        for (name, value) in attributes.members {
            do throws(EntryProblem) {
                var storedName = name
                if kind == .customAttributes {
                    try checkCustomAttribute(name, value, elementsMax: rules.arrayElementsMax)
                } else {
                    storedName = try UserField.check(name, value, in: attributes).rawValue
                }
                right.member(storedName, raw: value.compactBytes)
            } catch {
                wrong.append((error.inside(name).inside("attributes"), name, value))
            }
        }
        right.endObject()
        if wrong.count < attributes.count { data = right.bytes }
        refuse(wrong)
    }

    /// Rejects each invalid attribute as an entry of its own. Above 100 (`Limits.refusals`) the rest share one entry,
    /// so that one faulty producer does not fill the ledger.
    private mutating func refuse(_ wrong: [(problem: EntryProblem, name: String, value: JSONNode)]) {
        let apart = wrong.count > Limits.refusals ? Limits.refusals - 1 : wrong.count
        for (problem, name, value) in wrong.prefix(apart) {
            var refused = JSONWriter()
            refused.object { $0.member(name, raw: value.compactBytes) }
            rejectedParts.append(RejectedPart(problem, name: nil, data: refused.bytes))
        }
        let rest = wrong.dropFirst(apart)
        guard let first = rest.first else { return }
        var refused = JSONWriter()
        refused.object { writer in for (_, name, value) in rest { writer.member(name, raw: value.compactBytes) } }
        let problem = EntryProblem(
            .severalRejections,
            "\(counted(rest.count, "more is", "more are")) wrong, the first is \(first.problem.text)"
        )
        .inside("attributes")
        rejectedParts.append(RejectedPart(problem, name: nil, data: refused.bytes))
    }
}

extension JSONNode {
    /// Checks the length of an attributes object without white space: requests carry it in that form.
    fileprivate func checkSizeTogether() throws(EntryProblem) {
        guard rawBytes.count > Limits.attributesBytes else { return }
        let length = compactBytes.count
        guard length > Limits.attributesBytes else { return }
        throw EntryProblem(
            .tooLong,
            "attributes that are set together have at most \(Limits.attributesBytes) bytes; these have \(length): log them "
                + "apart"
        ).inside("attributes")
    }
}

extension EntryDestination {
    /// Checks that the profile identifier is neither empty nor too long.
    fileprivate func check() throws(EntryProblem) {
        guard case .sent(let identifier) = self else { return }
        switch identifier {
        case .brazeID(let id): try id.check("braze_id", bytesMax: Limits.nameBytes)
        case .alias(let name, let label):
            try name.check("alias_name", bytesMax: Limits.nameBytes)
            try label.check("alias_label", bytesMax: Limits.nameBytes)
        case .externalID(let id): try id.check("external_id", bytesMax: Limits.userIDBytes)
        }
    }
}

extension String {
    /// Checks a part of an identifier.
    fileprivate func check(_ field: String, bytesMax: Int) throws(EntryProblem) {
        guard !isEmpty else { throw EntryProblem(.empty, "is empty").inside(field) }
        guard utf8.count <= bytesMax else {
            throw EntryProblem(.tooLong, "has at most \(bytesMax) bytes; this one has \(utf8.count)").inside(field)
        }
    }
}
