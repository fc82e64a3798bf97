import PushModel

/// A line for an element or a quoted attribute of XML and HTML. What steers is shown.
public func markup(_ text: String) -> String { text.showingControls().escapedForMarkup }
