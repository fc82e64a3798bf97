extension HealthFinding {
    /// The commands that open the sockets of a failed service again, and start it with the next client.
    ///
    /// - Parameter service: its name, without `.service`.
    public static func revival(of service: String) -> String {
        "systemctl reset-failed \(service) \(service).socket; systemctl start \(service).socket"
    }

    /// Returns an error for each service of the package that has failed, or whose start fails.
    ///
    /// - Parameter properties: the output of `systemctl show --property=Id,ActiveState,SubState,NRestarts`
    ///   for their units.
    public static func failures(ofServices properties: String) -> [HealthFinding] {
        var units: [(name: Substring, isSocket: Bool, state: Substring)] = []
        // The lines of a unit are in any order, and its block ends with an empty line.
        var values: [Substring: Substring] = [:]
        for line in properties.split(separator: "\n", omittingEmptySubsequences: false) {
            if let equals = line.firstIndex(of: "=") { values[line[..<equals]] = line[equals...].dropFirst() }
            guard line.isEmpty, let id = values["Id"], let dot = id.lastIndex(of: ".") else { continue }
            // Between two attempts a unit waits; within one it is activating, as at its first start.
            let isTriedAgain =
                values["SubState"] == "auto-restart"
                || values["ActiveState"] == "activating" && (values["NRestarts"] ?? "0") != "0"
            units.append(
                (id[..<dot], id[dot...] == ".socket", isTriedAgain ? "auto-restart" : values["ActiveState"] ?? ""))
            values = [:]
        }
        let sockets = Set(units.filter(\.isSocket).map(\.name))
        let failed = Set(units.filter { $0.state == "failed" }.map(\.name))
        return units.filter { !$0.isSocket }.compactMap { name, _, state in
            if failed.contains(name) {
                let remedy = sockets.contains(name) ? revival(of: String(name)) : "systemctl restart \(name)"
                return .error(
                    .services, "\(name) has failed", do: "mend what \"journalctl -u \(name)\" says; then: \(remedy)")
            }
            guard state == "auto-restart" else { return nil }
            return .error(
                .services, "\(name) does not start; it is tried again every few seconds",
                do: "mend what \"journalctl -u \(name)\" says; then it starts by itself")
        }
    }
}
