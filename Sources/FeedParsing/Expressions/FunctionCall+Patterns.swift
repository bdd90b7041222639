import FeedModel

/// Functions with regular expressions.
extension FunctionCall {
    /// `regexp(pattern, text)`, which is SQLite's `text REGEXP pattern`: true if the pattern is found in the text.
    func regexp() {
        guard let pattern = text(0) else { return answerNull() }
        // A pattern that is none is a mistake even where there is no text.
        guard let program = program(pattern) else { return }
        guard let text = text(1) else { return answerNull() }
        do throws(PatternError) {
            var search = PatternSearch(program, text, groups: nil)
            answer(try search.find(from: 0))
        } catch {
            fail("regexp: \(error.finding)")
        }
    }

    /// `regexp_replace(text, pattern, with)`: every match is replaced; `$1` or `\1` is the match of the first group,
    /// `$0` the whole match.
    func regexpReplace() {
        guard let pattern = text(1) else { return answerNull() }
        guard let program = program(pattern) else { return }
        guard let text = self.text(0), let template = self.text(2) else { return answerNull() }
        do throws(PatternError) {
            let replacement = try PatternReplacement(template, groups: program.groups)
            guard let replaced = try replacement.replace(in: text, program) else { return answer(text) }
            answer(replaced)
        } catch {
            fail("regexp_replace: \(error.finding)")
        }
    }

    /// Returns a compiled pattern; nil if it is invalid, and the call has failed.
    private func program(_ pattern: UnsafeBufferPointer<UInt8>) -> PatternProgram? {
        do throws(PatternError) {
            return try functions.patterns.program(pattern)
        } catch {
            let text = String(decoding: pattern.prefix(200), as: UTF8.self)
            failByDeclaration(
                "'\(text)' is not a regular expression: \(error.finding.text)", help: error.finding.help)
            return nil
        }
    }
}
