public import PushModel
import PushReporting

extension RequestStory {
    /// The same story with push tokens shortened.
    public var withShortTokens: RequestStory {
        var story = self
        story.request.body = PushTokens.shortened(in: request.body)
        story.events = events.map(\.withShortToken)
        return story
    }
}
