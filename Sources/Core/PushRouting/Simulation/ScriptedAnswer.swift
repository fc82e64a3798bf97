import PushModel

/// The answer that a scripted handler will give, and when.
struct ScriptedAnswer: Comparable {
    var due: WallTime
    var invocation: InvocationID
    var answer: HandlerAnswer

    static func < (left: ScriptedAnswer, right: ScriptedAnswer) -> Bool {
        (left.due, left.invocation) < (right.due, right.invocation)
    }

    static func == (left: ScriptedAnswer, right: ScriptedAnswer) -> Bool {
        (left.due, left.invocation) == (right.due, right.invocation)
    }
}
