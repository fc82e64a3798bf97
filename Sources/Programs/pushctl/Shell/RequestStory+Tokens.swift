import PushModel
import PushQuery

extension RequestStory {
    /// The same story with push tokens shortened, unless they are asked for.
    func showingTokens(_ arguments: Arguments) -> RequestStory { arguments.has(.fullTokens) ? self : withShortTokens }
}
