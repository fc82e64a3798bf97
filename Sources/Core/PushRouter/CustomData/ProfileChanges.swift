import PushModel

extension CustomEntry {
    /// Returns the changes that attributes make to the fields of a profile, in their order.
    ///
    /// Each subscription group is a field of its own, `subscription_groups.ID`: groups that are not named keep their state.
    ///
    /// - Parameter rules: has the maximum length of an array.
    func profileChanges(_ rules: CustomDataRules) -> [(name: String, change: AttributeChange)] {
        // `log` scanned the data and checked its depth.
        let document = try? JSONDocument(scanning: data, limits: JSONLimits(depth: .max))
        guard kind != .customEvent, let attributes = document?.root else { return [] }
        return attributes.members.flatMap { name, value in
            if kind == .userAttributes, name == UserField.subscriptionGroups.rawValue { return value.groupChanges }
            return [(name, change(by: value, rules))]
        }
    }

    private func change(by value: JSONNode, _ rules: CustomDataRules) -> AttributeChange {
        if value.kind == .null { return .remove }
        guard kind == .customAttributes, let operation = try? AttributeOperation(value) else {
            return .set(Array(value.rawBytes))
        }
        switch operation {
        case .add(let values):
            return .add(values.elements.map { Array($0.rawBytes) }, elementsMax: rules.arrayElementsMax)
        case .remove(let values): return .drop(values.elements.map { Array($0.rawBytes) })
        case .increment(let step): return .increment(step.int64 ?? 0)
        }
    }
}

extension JSONNode {
    /// The changes of an array of subscription groups.
    fileprivate var groupChanges: [(name: String, change: AttributeChange)] {
        elements.compactMap { group in
            guard let id = group["subscription_group_id"]?.string, let state = group["subscription_state"] else {
                return nil
            }
            return ("\(UserField.subscriptionGroups.rawValue).\(id)", .set(Array(state.rawBytes)))
        }
    }
}
