// Lists the places of Swift files where a fault can be written: one line for each, with seven fields between tabs.
// faults.py compiles it with the toolchain's own SwiftSyntax, and calls it:
//
//     mutator FILE...
//
// The fields are: file, first byte, byte behind the last, line, kind, the text there, and the text with the fault. In
// the latter `@` stands for the switch, which is true when the program runs with this fault. All texts have one line,
// but the text of a dropped call is only its two ends, with `@@` between them: the call stays as it is.

import Glibc
import SwiftOperators
import SwiftParser
import SwiftSyntax

/// Calls that only a broken invariant reaches, and calls that change the cost and not the result.
let untouched: Set<String> = [
    "precondition", "preconditionFailure", "assert", "assertionFailure", "fatalError", "print", "reserveCapacity",
    "deallocate", "super", "self", "withExtendedLifetime",
]

/// The operator that a fault writes in the place of another.
let swappedOperators = [
    "<": ("bound", "<="), "<=": ("bound", "<"), ">": ("bound", ">="), ">=": ("bound", ">"), "==": ("equal", "!="),
    "!=": ("equal", "=="), "&&": ("logic", "||"), "||": ("logic", "&&"), "-": ("sum", "+"), "+": ("sum", "-"),
]

final class Finder: SyntaxVisitor {
    private let path: String
    private let lines: SourceLocationConverter
    private(set) var found: [String] = []

    init(_ path: String, _ tree: SourceFileSyntax) {
        self.path = path
        lines = SourceLocationConverter(fileName: path, tree: tree)
        super.init(viewMode: .sourceAccurate)
    }

    // Nothing in these is an expression that runs with a value of its own.
    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: EnumCaseElementSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: SwitchCaseLabelSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: MatchingPatternConditionSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: GenericArgumentSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: DeferStmtSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        let (left, right) = (node.leftOperand, node.rightOperand)
        let (first, last) = (left.trimmedDescription, right.trimmedDescription)
        let sign = node.operator.trimmedDescription
        switch sign {
        case "..<", "...":
            // A name that begins with a point is a value of another type.
            if right.is(IntegerLiteralExprSyntax.self) || last.hasPrefix(".") || last.hasPrefix("(") { break }
            add("bound", right, "(@ ? (\(last)) + 1 : \(last))")
        case "+=", "-=":
            // The whole statement, for an assignment has no value.
            guard right.is(IntegerLiteralExprSyntax.self), node.parent?.is(CodeBlockItemSyntax.self) == true else {
                break
            }
            let other = sign == "+=" ? "-=" : "+="
            add("sum", node, "if @ { \(first) \(other) \(last) } else { \(first) \(sign) \(last) }")
        default:
            guard let (kind, other) = swappedOperators[sign] else { break }
            // An order of a sort has no edge that counts, and `+` joins texts, too.
            if first.contains("$0") && last.contains("$1") || first.contains("$1") && last.contains("$0") { break }
            let counts = left.is(IntegerLiteralExprSyntax.self) || right.is(IntegerLiteralExprSyntax.self)
            if sign == "+" && !counts { break }
            add(kind, node, "(@ ? \(first) \(other) \(last) : \(first) \(sign) \(last))")
        }
        return .visitChildren
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        if node.operator.text == "!" { add("not", node, "(\(node.trimmedDescription) != @)") }
        return .visitChildren
    }

    override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        let text = node.trimmedDescription
        let digits = text.filter { $0 != "_" }
        let value = digits.hasPrefix("0x") ? Int(digits.dropFirst(2), radix: 16) : Int(digits)
        if let value { add("number", node, "(@ ? \(value + 1) : \(text))") }
        return .visitChildren
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        let isReturned = node.parent?.is(ReturnStmtSyntax.self) == true
        guard isReturned || node.parent?.is(LabeledExprSyntax.self) == true else { return .visitChildren }
        add("word", node, node.literal.text == "true" ? "(!@)" : "@")
        return .visitChildren
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        let name = node.calledExpression.trimmedDescription
        if untouched.contains(name) || untouched.contains(name.split(separator: ".").last.map(String.init) ?? "") {
            return .skipChildren
        }
        if name == "min" || name == "max" {
            let arguments = node.arguments.trimmedDescription
            add("bound", node, "(@ ? \(name == "min" ? "max" : "min")(\(arguments)) : \(name)(\(arguments)))")
        }
        swapArguments(node.arguments)
        return .visitChildren
    }

    /// Swaps the first two neighbours that may be of one type: members of one value, or names without a label.
    private func swapArguments(_ arguments: LabeledExprListSyntax) {
        let arguments = Array(arguments)
        for (one, two) in zip(arguments, arguments.dropFirst()) {
            let (a, b) = (one.expression.trimmedDescription, two.expression.trimmedDescription)
            guard let base = base(of: one.expression), base == self.base(of: two.expression), a != b,
                !base.isEmpty || one.label == nil && two.label == nil
            else { continue }
            func label(_ argument: LabeledExprSyntax) -> String { argument.label.map { "\($0.text): " } ?? "" }
            let faulty = "\(label(one))(@ ? \(b) : \(a)), \(label(two))(@ ? \(a) : \(b))"
            add(
                "swap", from: one.label.map(Syntax.init) ?? Syntax(one.expression), to: Syntax(two.expression),
                "\(label(one))\(a), \(label(two))\(b)", faulty)
            return
        }
    }

    /// The owner of a member, nothing for a name; `nil` for another expression.
    private func base(of node: ExprSyntax) -> String? {
        if let member = node.as(MemberAccessExprSyntax.self) {
            guard member.declName.baseName.text != "self" else { return nil }
            return member.base?.trimmedDescription
        }
        return node.is(DeclReferenceExprSyntax.self) ? "" : nil
    }

    /// A call that is a statement among others.
    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
        guard let block = node.parent?.as(CodeBlockItemListSyntax.self), block.count > 1,
            block.parent?.is(SourceFileSyntax.self) == false
        else { return .visitChildren }
        var item = Syntax(node.item)
        if let attempt = item.as(TryExprSyntax.self), attempt.questionOrExclamationMark == nil {
            item = Syntax(attempt.expression)
        }
        guard let call = item.as(FunctionCallExprSyntax.self) else { return .visitChildren }
        let name = call.calledExpression.trimmedDescription
        guard untouched.isDisjoint(with: name.split(separator: ".").map(String.init)) else { return .visitChildren }
        let text = node.item.trimmedDescription.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        add("call", from: Syntax(node.item), to: Syntax(node.item), text, "if !@ { @@ }")
        return .visitChildren
    }

    private func add(_ kind: String, _ node: some SyntaxProtocol, _ faulty: String) {
        let text = node.trimmedDescription
        // A text is written twice: a long one would be slow to compile, and hard to read.
        guard !text.contains(where: \.isNewline), text.count <= 140, !text.contains("//") else { return }
        add(kind, from: Syntax(node), to: Syntax(node), text, faulty)
    }

    private func add(_ kind: String, from first: Syntax, to last: Syntax, _ text: String, _ faulty: String) {
        guard !text.contains("@"), !text.contains("\t"), !faulty.contains(where: \.isNewline) else { return }
        let begin = first.positionAfterSkippingLeadingTrivia
        let end = last.endPositionBeforeTrailingTrivia
        found.append(
            "\(path)\t\(begin.utf8Offset)\t\(end.utf8Offset)\t\(lines.location(for: begin).line)\t\(kind)\t\(text)\t\(faulty)"
        )
    }
}

struct Unreadable: Error {
    let path: String
}

func text(of path: String) throws -> String {
    guard let file = fopen(path, "r") else { throw Unreadable(path: path) }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&part, 1, part.count, file), count > 0 { bytes += part[..<count] }
    return String(decoding: bytes, as: UTF8.self)
}

for path in CommandLine.arguments.dropFirst() {
    let parsed = Parser.parse(source: try text(of: path))
    // An operator has its operands only after it is folded; an operator of our own keeps the list as it is.
    let folded = OperatorTable.standardOperators.foldAll(parsed) { _ in }
    guard let tree = folded.as(SourceFileSyntax.self) else { continue }
    let finder = Finder(path, tree)
    finder.walk(tree)
    for line in finder.found { print(line) }
}
