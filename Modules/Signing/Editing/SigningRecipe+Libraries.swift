import FerryBytes
import FerryPropertyList

extension SigningRecipe {
    /// The keys of what code loads.
    static let libraryFields: [Field] = [
        Field(
            key: "inject",
            read: { value, recipe throws(RecipeError) in
                for element in try value.elements("a list of files") {
                    recipe.injections.append(try element.injection())
                }
            },
            write: { recipe in
                recipe.injections.isEmpty ? nil : .array(recipe.injections.map(\.value))
            }
        ),
        choice("injectBy", \.injectionNaming),
        Field(
            key: "removeDylibs",
            read: { value, recipe throws(RecipeError) in
                recipe.removedLibraries = try value.strings("a list of libraries")
            },
            write: { $0.removedLibraries.isEmpty ? nil : .array($0.removedLibraries.map { .string($0) }) }
        ),
        Field(
            key: "renameDylibs",
            read: { value, recipe throws(RecipeError) in
                for (name, path) in try value.members("an object of libraries and their new paths") {
                    recipe.renamedLibraries.append(LibraryRename(name, to: try path.string("a path")))
                }
            },
            write: { recipe in
                var paths = PropertyList.Dictionary()
                for rename in recipe.renamedLibraries { paths[rename.name] = .string(rename.path) }
                return paths.isEmpty ? nil : .dictionary(paths)
            }
        ),
    ]
}

extension SigningRecipe.Injection {
    /// As JSON has it: the file alone where the rest is as usual.
    fileprivate var value: PropertyList {
        guard target != .app || isWeak else { return .string(source) }
        var members: PropertyList.Dictionary = ["file": .string(source)]
        if target != .app { members["into"] = .string(target.name) }
        if isWeak { members["weak"] = true }
        return .dictionary(members)
    }
}

extension SigningRecipe.Injection.Target {
    /// `app`, `all`, or a bundle.
    public init(name: String) {
        switch name {
        case "app": self = .app
        case "all": self = .all
        default: self = .bundle(name)
        }
    }

    /// As it is written.
    public var name: String {
        switch self {
        case .app: "app"
        case .all: "all"
        case .bundle(let name): name
        }
    }
}

extension RecipeValue {
    /// A file to inject: its path, or an object that says more.
    fileprivate func injection() throws(RecipeError) -> SigningRecipe.Injection {
        if case .string(let source) = value { return .init(source) }
        let known = ["file", "into", "weak"]
        var injection: SigningRecipe.Injection?
        let members = try members("the path of a file, or an object with file, into, weak")
        for (key, value) in members where key == "file" { injection = .init(try value.string("the path of a file")) }
        guard var injection else { throw unexpected("an object with the key file") }
        for (key, value) in members {
            switch key {
            case "file": break
            case "into": injection.target = .init(name: try value.string("app, all, or a bundle"))
            case "weak": injection.isWeak = try value.bool()
            default:
                throw RecipeError(
                    .unknownKey,
                    file,
                    value.path,
                    "what is injected has no such key",
                    remedy: suggestion(for: key, among: known).map { "Did you mean “\($0)”?" } ?? Self.advice
                )
            }
        }
        return injection
    }
}
