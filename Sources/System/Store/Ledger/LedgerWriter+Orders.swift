import PushModel

/// What an order of the chain took out.
enum OrderResult: Hashable {
    case pruned(Pruned)
    case erased(ErasureReceipt)
}

extension LedgerWriter {
    /// Takes rows out, and brings the ledger up to the place behind the order, in one transaction.
    func carryOut(_ order: ChainOrder, through position: LogPosition) throws(StoreError) -> OrderResult {
        switch order {
        case .prune(let slice): .pruned(try prune(slice, through: position))
        case .erase(let order): .erased(try erase(order, through: position))
        }
    }
}
