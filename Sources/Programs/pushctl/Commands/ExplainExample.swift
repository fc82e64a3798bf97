import PushModel
import PushRouter
import PushSettings
import PushViews

extension Option {
    /// The word that `--example` takes beside the names of the catalogue.
    static let listOfExamples = "list"
    static let example = Option(
        "example", .words(Accident.names + [listOfExamples]),
        "instead of FILE: an accident of the catalogue, its outcome and the fix; list prints the names")
}

extension Session {
    /// Explains an accident of the catalogue under the configuration, or lists the accidents.
    func explainExample(_ name: String, _ arguments: Arguments) throws(Failure) -> ExitStatus {
        let shared = Set(Option.everywhere + [.example, .json])
        if let other = arguments.values.keys.first(where: { !shared.contains($0) }) {
            throw arguments.usageFailure("--example has a payload of its own: it takes no --\(other.name)")
        }
        if let operand = arguments.operands.first {
            throw arguments.usageFailure("--example has a payload of its own: \(operand) is one operand too many")
        }
        let printsJSON = arguments.has(.json)
        guard let accident = Accident.named(name) else {
            if printsJSON { output.write(document: Accident.jsonList) } else { output.print(Accident.list) }
            return .done
        }
        let table = try settings().routing
        do throws(PayloadError) {
            if printsJSON {
                output.write(document: try accident.json(by: table))
            } else {
                output.print(try accident.text(by: table))
            }
        } catch {
            throw Failure(.badData, "\(name): \(error.message)")
        }
        return .done
    }
}
