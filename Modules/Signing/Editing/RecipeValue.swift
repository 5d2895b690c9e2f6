import FerryAppBundle
import FerryBytes
import FerryPropertyList

/// A value in a recipe, with where it stands.
struct RecipeValue {
    let file: String
    let path: String
    let value: PropertyList

    /// What to throw where something else is expected.
    func unexpected(_ expected: String, remedy: String? = nil) -> RecipeError {
        RecipeError(.value, file, path, "expected \(expected), found \(found)", remedy: remedy ?? Self.advice)
    }

    static let advice = "docs/recipe.md has every key with an example."

    private var found: String {
        switch value {
        case .string(let text): "the text “\(text.count > 60 ? text.prefix(60) + "…" : text)”".printable
        case .integer(let number): "the number \(number)"
        case .unsigned(let number): "the number \(number)"
        case .real(let number): "the number \(number)"
        case .boolean(let flag): "\(flag)"
        default: value.kindName
        }
    }

    func string(_ expected: String = "a text") throws(RecipeError) -> String {
        guard case .string(let text) = value else { throw unexpected(expected) }
        return text
    }

    func bool() throws(RecipeError) -> Bool {
        guard case .boolean(let flag) = value else { throw unexpected("true or false") }
        return flag
    }

    func elements(_ expected: String) throws(RecipeError) -> [RecipeValue] {
        guard case .array(let elements) = value else { throw unexpected(expected) }
        return elements.enumerated().map { RecipeValue(file: file, path: "\(path)[\($0)]", value: $1) }
    }

    func strings(_ expected: String = "a list of texts") throws(RecipeError) -> [String] {
        var texts: [String] = []
        for element in try elements(expected) { texts.append(try element.string()) }
        return texts
    }

    func members(_ expected: String) throws(RecipeError) -> [(key: String, value: RecipeValue)] {
        guard case .dictionary(let dictionary) = value else { throw unexpected(expected) }
        return dictionary.map { ($0, RecipeValue(file: file, path: "\(path).\($0)".printable, value: $1)) }
    }

    func selection() throws(RecipeError) -> SigningRecipe.Selection {
        if case .string(let text) = value {
            guard text == "all" else { throw unexpected("“all” or a list of texts") }
            return .all
        }
        return .some(try strings("“all” or a list of texts"))
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(_: Choice.Type) throws(RecipeError) -> Choice {
        let names = Choice.allCases.map(\.rawValue)
        let expected = "one of " + names.joined(separator: ", ")
        let text = try string(expected)
        guard let choice = Choice(rawValue: text) else {
            throw unexpected(expected, remedy: suggestion(for: text, among: names).map { "Did you mean \($0)?" })
        }
        return choice
    }

    func device() throws(RecipeError) -> SigningRecipe.Device {
        let all = SigningRecipe.Device.allCases
        if case .integer(let number) = value, let device = SigningRecipe.Device(rawValue: number) { return device }
        if case .string(let text) = value, let device = all.first(where: { $0.name == text }) { return device }
        throw unexpected("one of " + all.map(\.name).joined(separator: ", "))
    }

    func key(_ text: String) throws(RecipeError) -> SigningRecipe.Key {
        do {
            return try SigningRecipe.Key(text)
        } catch {
            throw RecipeError(.value, file, path, error.message, remedy: error.remedy)
        }
    }
}
