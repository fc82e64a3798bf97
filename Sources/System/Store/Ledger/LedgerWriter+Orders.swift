import PushModel

/// The result of an order of the chain.
enum OrderResult: Hashable {
    case pruned(Pruned)
    case erased(ErasureReceipt)
}

extension LedgerWriter {
    /// Carries out an order, and moves the ledger's position behind it, in one transaction.
    func carryOut(_ order: ChainOrder, through position: LogPosition) throws(StoreError) -> OrderResult {
        switch order {
        case .prune(let slice): .pruned(try prune(slice, through: position))
        case .erase(let order): .erased(try erase(order, through: position))
        }
    }
}
