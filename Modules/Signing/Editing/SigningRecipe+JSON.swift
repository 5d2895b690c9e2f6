import FerryAppBundle
import FerryBytes
import FerryPropertyList

extension SigningRecipe {
    /// Reads the JSON of a recipe.
    ///
    /// A key that no recipe has, or a value of another kind than it must be, is refused.
    ///
    /// - Parameter file: what to call it in errors.
    /// - Parameter folder: what the paths of files in it start from; `nil` leaves them as they are.
    public init(json: [UInt8], file: String = "recipe", folder: String? = nil) throws(RecipeError) {
        try self.init(RecipeValue(json: json, file: file).value, file: file)
        guard let folder, !folder.isEmpty else { return }
        func placed(_ path: String) -> String {
            path.utf8.first == UInt8(ascii: "/") ? path : folder + "/" + path
        }
        icon = icon.map(placed)
        for index in addedFiles.indices { addedFiles[index].source = placed(addedFiles[index].source) }
        for index in injections.indices { injections[index].source = placed(injections[index].source) }
        entitlements = entitlements.mapValues { source in
            if case .file(let path) = source { .file(placed(path)) } else { source }
        }
    }

    /// The keys that a recipe may have.
    public static var keys: [String] { fields.map(\.key) }

    init(_ value: PropertyList, file: String) throws(RecipeError) {
        self.init()
        guard case .dictionary(let dictionary) = value else {
            throw RecipeError(
                .value,
                file,
                "",
                "expected an object, found \(value.kindName)",
                remedy: RecipeValue.advice
            )
        }
        for (key, value) in dictionary {
            let value = RecipeValue(file: file, path: key.printable, value: value)
            guard let field = Self.fields.first(where: { $0.key == key }) else {
                throw value.unknownKey(key, "no recipe has such a key", among: Self.keys)
            }
            try field.read(value, &self)
        }
    }

    /// The recipe as a value that JSON is made of; what is not said is left out.
    var value: PropertyList {
        var dictionary = PropertyList.Dictionary()
        for field in Self.fields { dictionary[field.key] = field.write(self) }
        return .dictionary(dictionary)
    }

    // MARK: Fields

    struct Field: Sendable {
        let key: String
        let read: @Sendable (RecipeValue, inout SigningRecipe) throws(RecipeError) -> Void
        let write: @Sendable (SigningRecipe) -> PropertyList?
    }

    private static let fields: [Field] =
        [
            text("bundleID", \.bundleIdentifier),
            choice("uniqueID", \.uniqueID),
            text("name", \.displayName),
            text("version", \.version),
            text("build", \.build),
            text("minimumOS", \.minimumOS),
            Field(
                key: "devices",
                read: { value, recipe throws(RecipeError) in
                    var devices: [Device] = []
                    for element in try value.elements("a list of devices") { devices.append(try element.device()) }
                    guard !devices.isEmpty else { throw value.unexpected("at least one device") }
                    recipe.devices = devices
                },
                write: { $0.devices.map { .array($0.map { .string($0.name) }) } }
            ),
            text("icon", \.icon),
            selection("removeURLSchemes", \.removedURLSchemes),
            flag("removeSupportedDevices", \.removesSupportedDevices),
            flag("fileSharing", \.fileSharing),
            flag("documentBrowser", \.documentBrowser),
            flag("fullScreen", \.fullScreen),
            flag("proMotion", \.proMotion),
            flag("gameMode", \.gameMode),
            choice("appearance", \.appearance),
            Field(
                key: "unset",
                read: { value, recipe throws(RecipeError) in
                    for element in try value.elements("a list of keys") {
                        recipe.unsets.append(try element.key(try element.string()))
                    }
                },
                write: { $0.unsets.isEmpty ? nil : .array($0.unsets.map { .string($0.description) }) }
            ),
            Field(
                key: "set",
                read: { value, recipe throws(RecipeError) in
                    for (key, value) in try value.members("an object of keys and values") {
                        recipe.settings.append(Setting(key: try value.key(key), value: .exact(value.value)))
                    }
                },
                write: { recipe in
                    var values = PropertyList.Dictionary()
                    for setting in recipe.settings {
                        switch setting.value {
                        case .exact(let value): values[setting.key.description] = value.markedForJSON
                        case .typed(let text):
                            let value = (try? PropertyList(typed: text)) ?? .string(text)
                            values[setting.key.description] = value.markedForJSON
                        }
                    }
                    return values.isEmpty ? nil : .dictionary(values)
                }
            ),
            Field(
                key: "add",
                read: { value, recipe throws(RecipeError) in
                    for (path, source) in try value.members("an object of paths in the app and files") {
                        recipe.addedFiles.append(AddedFile(path: path, source: try source.string("the path of a file")))
                    }
                },
                write: { recipe in
                    var files = PropertyList.Dictionary()
                    for file in recipe.addedFiles { files[file.path] = .string(file.source) }
                    return files.isEmpty ? nil : .dictionary(files)
                }
            ),
            Field(
                key: "remove",
                read: { value, recipe throws(RecipeError) in recipe.removedFiles = try value.strings("a list of paths")
                },
                write: { $0.removedFiles.isEmpty ? nil : .array($0.removedFiles.map { .string($0) }) }
            ),
        ] + libraryFields + [
            selection("dropExtensions", \.droppedExtensions),
            Field(
                key: "keepExtensions",
                read: { value, recipe throws(RecipeError) in recipe.keptExtensions = try value.strings() },
                write: { $0.keptExtensions.map { .array($0.map { .string($0) }) } }
            ),
            flag("dropWatchApps", \.dropsWatchApps),
            flag("dropAppClips", \.dropsAppClips),
            choice("foreignExtensions", \.foreignExtensions),
            flag("removePlaceholders", \.removesPlaceholders),
            flag("removeStoreFiles", \.removesStoreFiles),
            Field(
                key: "entitlements",
                read: { value, recipe throws(RecipeError) in
                    for (bundle, source) in try value.members("an object of bundles and files") {
                        if case .dictionary(let inline) = source.value {
                            recipe.entitlements[bundle] = .inline(inline)
                        } else {
                            recipe.entitlements[bundle] = .file(try source.string("the path of a file, or an object"))
                        }
                    }
                },
                write: { recipe in
                    var files = PropertyList.Dictionary()
                    for (bundle, source) in recipe.entitlements.sorted(by: { $0.key < $1.key }) {
                        switch source {
                        case .file(let path): files[bundle] = .string(path)
                        case .inline(let dictionary): files[bundle] = .dictionary(dictionary)
                        }
                    }
                    return files.isEmpty ? nil : .dictionary(files)
                }
            ),
            choice("entitlementsMode", \.entitlementsMode),
        ]

    typealias Place<Value> = WritableKeyPath<SigningRecipe, Value?> & Sendable

    static func text(_ key: String, _ place: any Place<String>) -> Field {
        Field(
            key: key,
            read: { value, recipe throws(RecipeError) in recipe[keyPath: place] = try value.string() },
            write: { $0[keyPath: place].map { .string($0) } }
        )
    }

    static func flag(_ key: String, _ place: any Place<Bool>) -> Field {
        Field(
            key: key,
            read: { value, recipe throws(RecipeError) in recipe[keyPath: place] = try value.bool() },
            write: { $0[keyPath: place].map { .boolean($0) } }
        )
    }

    static func selection(_ key: String, _ place: any Place<Selection>) -> Field {
        Field(
            key: key,
            read: { value, recipe throws(RecipeError) in recipe[keyPath: place] = try value.selection() },
            write: { recipe in
                recipe[keyPath: place].map { selection in
                    switch selection {
                    case .all: "all"
                    case .some(let names): .array(names.map { .string($0) })
                    }
                }
            }
        )
    }

    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ key: String,
        _ place: any Place<Choice>
    ) -> Field {
        Field(
            key: key,
            read: { value, recipe throws(RecipeError) in recipe[keyPath: place] = try value.choice(Choice.self) },
            write: { $0[keyPath: place].map { .string($0.rawValue) } }
        )
    }
}

extension SigningRecipe: Codable {
    /// Reads a recipe from any format, as strictly as from JSON.
    ///
    /// Formats whose dictionaries have no order give the settings in that of their keys.
    public init(from decoder: any Decoder) throws {
        try self.init(try DecodedValue(from: decoder).value, file: "")
    }

    /// Writes what is said.
    public func encode(to encoder: any Encoder) throws {
        try value.encode(to: encoder)
    }
}

/// Any value that JSON and its kin can hold.
private struct DecodedValue: Decodable {
    let value: PropertyList

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let flag = try? container.decode(Bool.self) {
            value = .boolean(flag)
        } else if let number = try? container.decode(Int64.self) {
            value = .integer(number)
        } else if let number = try? container.decode(UInt64.self) {
            value = .unsigned(number)
        } else if let number = try? container.decode(Double.self) {
            value = .real(number)
        } else if let text = try? container.decode(String.self) {
            value = .string(text)
        } else if let elements = try? container.decode([DecodedValue].self) {
            value = .array(elements.map(\.value))
        } else {
            var dictionary = PropertyList.Dictionary()
            for (key, element) in try container.decode([String: DecodedValue].self) { dictionary[key] = element.value }
            value = PropertyList(marked: dictionary.sorted()) ?? .dictionary(dictionary)
        }
    }
}
