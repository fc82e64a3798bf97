/// The results of one payload on several platforms and in several states of the app, for people. PushViews makes the
/// matrix, and prints it as text or as a page.
public struct PayloadMatrix: Hashable, Sendable {
    /// One platform and one state of the app.
    public struct Place: Hashable, Sendable {
        /// The platform.
        public var platform: Platform
        /// The state of the app.
        public var state: AppState
        /// The state of the device, if it makes a difference.
        public var device: DeviceState?

        /// The state of the app and of the device, for people.
        public var stateName: String { device.map { "\(state.rawValue), \($0.name)" } ?? state.rawValue }

        public init(platform: Platform, state: AppState, device: DeviceState? = nil) {
            (self.platform, self.state, self.device) = (platform, state, device)
        }
    }

    /// A state of the device in which a push comes late, or may be dropped. The raw values are the words of `device_state`.
    public enum DeviceState: String, Hashable, Sendable {
        /// Android: the device is idle, and FCM holds messages of normal priority.
        case doze
        /// iOS: Low Power Mode, or Background App Refresh is off.
        case lowPower = "low_power"

        /// The name, for people.
        var name: String {
            switch self {
            case .doze: "in Doze"
            case .lowPower: "low power"
            }
        }
    }

    /// One fact at one place.
    public struct Cell: Hashable, Sendable {
        /// The fact.
        public var text: String
        /// Whether the place above, on the same platform, has another text.
        public var differs: Bool
        /// Whether a push or an open is lost by it.
        public var isLoss: Bool

        public init(text: String, differs: Bool = false, isLoss: Bool = false) {
            (self.text, self.differs, self.isLoss) = (text, differs, isLoss)
        }
    }

    /// A place with its facts.
    public struct Row: Hashable, Sendable {
        /// The place.
        public var place: Place
        /// Its facts, one for each column.
        public var cells: [Cell]
        /// Whether Braze's SDK never sees a Braze push that is on the screen.
        public var isLost: Bool
        /// The reasons, in order.
        public var reasons: [String]

        /// Whether one of its facts is a loss.
        public var hasLoss: Bool { cells.contains(where: \.isLoss) }

        public init(place: Place, cells: [Cell], isLost: Bool, reasons: [String]) {
            (self.place, self.cells, self.isLost, self.reasons) = (place, cells, isLost, reasons)
        }
    }

    /// A warning, and the places where it holds.
    public struct Warning: Hashable, Sendable {
        /// The sentence.
        public var text: String
        /// The places, in the order of the rows.
        public var places: [Place]

        public init(text: String, places: [Place]) { (self.text, self.places) = (text, places) }
    }

    /// The file of the payload, perhaps with a line.
    public var name: String
    /// The received payload.
    public var payload: [UInt8]
    /// The titles of the columns.
    public var columns: [String]
    /// A row for each place, the places of a platform side by side.
    public var rows: [Row]
    /// The warnings, each once.
    public var warnings: [Warning]

    public init(name: String, payload: [UInt8], columns: [String], rows: [Row], warnings: [Warning]) {
        (self.name, self.payload, self.columns, self.rows, self.warnings) = (name, payload, columns, rows, warnings)
    }
}
