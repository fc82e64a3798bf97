import PushModel
import PushRouter

/// The form of a line of the export. The raw values are those of the command line.
enum ExportFormat: String, CaseIterable {
    /// The event as a flat object, with the names of Braze Currents.
    case currents
    /// The envelope of Braze's custom HTTP export.
    case envelope

    /// A line without its line feed.
    /// - Parameter cursor: the cursor of the event, as the last member; `nil`: without it.
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
