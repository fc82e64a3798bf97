import PushModel
import PushViews

extension RequestStory {
    /// The story with push tokens shortened, unless `--full-tokens` is given.
    func showingTokens(_ arguments: Arguments) -> RequestStory { arguments.has(.fullTokens) ? self : withShortTokens }
}
