public import PushModel

extension PayloadMatrix {
    /// Returns the table for a terminal line by line, with the warnings below it.
    ///
    /// - Parameter width: the most characters in a line; `nil`: unlimited.
    public func lines(width: Int?) -> [ReportLine] {
        var table = TextTable(
            [(title: "Platform", alignment: .left), (title: "State", alignment: .left)]
                + columns.map { (title: $0, alignment: .left) },
            keys: 2)
        var above: Platform?
        for row in rows {
            let platform = row.place.platform == above ? "" : row.place.platform.rawValue
            above = row.place.platform
            table.add(
                [platform, row.place.stateName] + row.cells.map(\.marked),
                row.isLost || row.hasLoss ? .bad : .plain)
        }
        var lines = [ReportLine(name.showingControls(), .heading)] + table.lines(width: width)
        if rows.contains(where: { $0.cells.contains(where: \.differs) }) {
            lines.append(ReportLine("* differs from the state above it"))
        }
        if rows.contains(where: \.hasLoss) {
            lines.append(ReportLine("! is a loss: nobody gets the push, or counts the open"))
        }
        if !warnings.isEmpty { lines.append(ReportLine("Warnings", .heading)) }
        for warning in warnings {
            let wrapped = TextStyle(width: width.map { $0 - 2 }).wrapped(
                "- \(warning.sentence.showingControls())", indent: 2)
            lines += wrapped.map { ReportLine("  \($0)", .warning) }
        }
        return lines
    }
}

extension PayloadMatrix.Cell {
    /// The text, with a mark if it differs, and one if it is a loss.
    var marked: String { text + (isLoss ? " !" : "") + (differs ? " *" : "") }
}

extension PayloadMatrix.Warning {
    /// The sentence with the places where it applies.
    var sentence: String { places.isEmpty ? text : "\(Self.places(places)): \(text)" }

    /// Each platform with its states.
    static func places(_ places: [PayloadMatrix.Place]) -> String {
        var parts: [String] = []
        for platform in Platform.allCases {
            let states = places.filter { $0.platform == platform }.map(\.state.rawValue)
            guard !states.isEmpty else { continue }
            let isEverywhere = states.count == platform.appStates.count
            parts.append(isEverywhere ? platform.rawValue : "\(platform.rawValue) (\(states.joined(separator: ", ")))")
        }
        return parts.joined(separator: ", ")
    }
}
