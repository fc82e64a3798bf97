import PushModel
import PushRouting

/// The form of a line of the export. The raw values are those of the command line.
enum ExportFormat: String, CaseIterable {
    /// The event, flat, with the names of the provider's Currents.
    case currents
    /// The envelope of its custom HTTP export.
    case envelope

    /// A line without its line feed.
    /// - Parameter cursor: the line's place, to be its last member; `nil`: without.
    func line(_ event: AnalyticsEvent, cursor: Int64?) -> [UInt8] {
        var writer = JSONWriter(reserving: 384)
        writer.object { writer in
            switch self {
            case .currents: writer.members(of: event)
            case .envelope: writer.envelopeMembers(of: event)
            }
            if let cursor { writer.member("cursor", cursor) }
        }
        return writer.bytes
    }
}
