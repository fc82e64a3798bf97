import PushModel
import PushReporting
import Store

extension RequestStory {
    /// The same story with push tokens shortened, unless they are asked for.
    func showingTokens(_ arguments: Arguments) -> RequestStory {
        guard !arguments.has(.fullTokens) else { return self }
        var story = self
        story.request.body = PushTokens.shortened(in: request.body)
        story.events = events.map(\.withShortToken)
        return story
    }
}
