extension RowKind {
    /// The version of batches since which the kind is there: who reads lower ones stops at it.
    ///
    /// A kind that is added later names its version here, the one after the highest: the daemon writes it once all copies of a
    /// chain read that.
    public var since: Int {
        switch self {
        default: 1
        }
    }
}
