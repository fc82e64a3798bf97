import PushModel
import PushRouter

extension TrackedData {
    /// Returns the entry after the daemon's checks: unchanged, or with a fault. Each faulty attribute becomes an entry
    /// of its own, after the entry with the valid ones.
    func checked(_ rules: CustomDataRules, _ platform: Platform) -> [TrackedData] {
        guard fault == nil, let identifier else { return [self] }
        // The custom data is empty: the free room varies from day to day, and is not part of the explanation.
        var customData = CustomData(stateID: UUID128(high: 0, low: 0), rules: rules)
        var output = CustomDataOutput()
        let time = WallTime(milliseconds: 0)
        let source = EntrySource(
            cause: SequenceNumber(0), destination: .sent(identifier), platform: platform, app: nil, device: nil,
            externalID: nil, at: time)
        let rejections = customData.log(kind, object, source, now: time, into: &output)
        guard !rejections.isEmpty else { return [self] }
        return output.records.compactMap { record in
            guard case .entry(let entry, _, _) = record else { return nil }
            var part = self
            let rejection = rejections.first { $0.number == entry.number }
            part.fault = rejection?.problem
            if kind != .customEvent, let attributes = attributes(entry.data) { part.object = attributes }
            return part
        }
    }

    /// Returns an object with these attributes; `nil` if there are none.
    private func attributes(_ data: [UInt8]) -> JSONNode? {
        guard !data.isEmpty else { return nil }
        var writer = JSONWriter(reserving: data.count + 16)
        writer.object { $0.member("attributes", raw: data) }
        return try? JSONDocument(scanning: writer.bytes, limits: JSONLimits(depth: .max)).root
    }
}
