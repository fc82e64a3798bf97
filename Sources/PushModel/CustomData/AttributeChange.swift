/// What is done to a field of a profile. The values are JSON texts without white space.
public enum AttributeChange: Hashable, Sendable {
    /// It becomes this.
    case set([UInt8])
    /// It is no more.
    case remove
    /// These join the array that it is.
    case add([[UInt8]])
    /// These leave the array that it is.
    case drop([[UInt8]])
    /// This is added to the number that it is.
    case increment(Int64)
}
