public import PushModel

extension LedgerReader {
    private static let columns = ConfigurationPeriod.table.values()

    /// Returns the configuration that decides requests now; `nil` if none was recorded.
    public func lastConfiguration() throws(StoreError) -> ConfigurationPeriod? {
        let statement = try database.prepare(
            "SELECT \(Self.columns) FROM configurations ORDER BY first_seq DESC LIMIT 1")
        return try statement.step() ? try statement.value() : nil
    }

    /// Returns the configuration that decided a request; `nil` if the request is older than the record of
    /// configurations.
    public func configuration(of seq: SequenceNumber) throws(StoreError) -> DecidingConfiguration? {
        let statement = try database.prepare(
            "SELECT \(Self.columns) FROM configurations WHERE first_seq <= ?1 ORDER BY first_seq DESC LIMIT 1")
        statement.bind(seq.value, at: 1)
        guard try statement.step() else { return nil }
        let period: ConfigurationPeriod = try statement.value()
        return DecidingConfiguration(period, isInForce: try lastConfiguration()?.id == period.id)
    }

    /// Sets the configuration that decided each request; a request that is older than their record gets none.
    public func addConfigurations(to stories: inout [RequestStory]) throws(StoreError) {
        guard let highest = stories.map(\.request.seq).max(), let last = try lastConfiguration() else { return }
        let statement = try database.prepare(
            "SELECT \(Self.columns) FROM configurations WHERE first_seq <= ?1 ORDER BY first_seq DESC")
        statement.bind(highest.value, at: 1)
        var period: ConfigurationPeriod?
        for index in stories.indices.sorted(by: { stories[$0].request.seq > stories[$1].request.seq }) {
            while period.map({ $0.first > stories[index].request.seq }) ?? true {
                guard try statement.step() else { return }
                period = try statement.value()
            }
            stories[index].configuration = period.map { DecidingConfiguration($0, isInForce: $0.id == last.id) }
        }
    }

    /// Returns the configurations of which the ledger has a request.
    public func namedConfigurations() throws(StoreError) -> Set<ConfigurationID> {
        let statement = try database.prepare(
            """
            SELECT \(Self.columns) FROM configurations WHERE EXISTS (SELECT 1 FROM request_rows
                WHERE seq >= configurations.first_seq AND seq < coalesce(
                    (SELECT min(first_seq) FROM configurations AS later
                        WHERE later.first_seq > configurations.first_seq), \(Int64.max)))
            """)
        var ids: Set<ConfigurationID> = []
        while try statement.step() { ids.insert((try statement.value() as ConfigurationPeriod).id) }
        return ids
    }
}
