import FerryAppBundle
import FerryBytes
import FerryIcons
import FerryPropertyList
import FerrySigning

extension Invocation {
    /// What is to be changed: the recipe's file, and the options, which win.
    func recipe() throws -> SigningRecipe {
        var recipe = SigningRecipe()
        if let path = arguments.value("--recipe") {
            recipe = try SigningRecipe(json: try InputFile.bytes(path), file: path, folder: InputFile.folder(of: path))
        }
        return recipe.overridden(by: try optionRecipe())
    }

    /// The options alone.
    private func optionRecipe() throws -> SigningRecipe {
        var recipe = SigningRecipe()
        recipe.bundleIdentifier = arguments.value("--bundle-id")
        recipe.uniqueID = choice("--unique-id")
        recipe.displayName = arguments.value("--name")
        recipe.version = arguments.value("--app-version")
        recipe.build = arguments.value("--build")
        recipe.minimumOS = arguments.value("--min-os")
        if arguments.isGiven("--devices") {
            let names = arguments.values("--devices")
            recipe.devices = SigningRecipe.Device.allCases.filter { names.contains($0.name) }
        }
        recipe.icon = arguments.value("--icon")
        recipe.removedURLSchemes = selection("--remove-url-schemes")
        recipe.removesSupportedDevices = flag("--remove-supported-devices")
        recipe.fileSharing = onOff("--file-sharing")
        recipe.documentBrowser = onOff("--document-browser")
        recipe.fullScreen = onOff("--full-screen")
        recipe.proMotion = onOff("--pro-motion")
        recipe.gameMode = onOff("--game-mode")
        recipe.appearance = choice("--appearance")
        recipe.droppedExtensions = selection("--drop-extensions")
        if arguments.isGiven("--keep-extensions") { recipe.keptExtensions = arguments.values("--keep-extensions") }
        recipe.dropsWatchApps = flag("--drop-watch-apps")
        recipe.dropsAppClips = flag("--drop-app-clips")
        if arguments.isGiven("--foreign-extensions") { recipe.foreignExtensions = choice("--foreign-extensions") }
        recipe.removesPlaceholders = flag("--remove-placeholders")
        recipe.removesStoreFiles = flag("--remove-store-files")
        if arguments.isGiven("--entitlements-mode") { recipe.entitlementsMode = choice("--entitlements-mode") }
        recipe.removedFiles = arguments.values("--remove")
        for text in arguments.values("--add") {
            let (path, file) = try parts(of: text, "--add", "PATH=FILE")
            recipe.addedFiles.append(.init(path: path, source: file))
        }
        for text in arguments.values("--inject") {
            let (bundle, file) = bundleAndFile(text)
            recipe.injections.append(
                .init(file, into: bundle.map { .init(name: $0) } ?? .app, isWeak: arguments.flag("--inject-weak"))
            )
        }
        // What a recipe injects says for itself whether it is weak.
        let orphans = arguments.isGiven("--recipe") ? ["--inject-weak"] : ["--inject-weak", "--inject-by"]
        if recipe.injections.isEmpty, let orphan = orphans.first(where: { arguments.isGiven($0) }) {
            throw UsageError(.missingOption, "\(orphan) is given without --inject.")
        }
        if arguments.isGiven("--inject-by") { recipe.injectionNaming = choice("--inject-by") }
        recipe.removedLibraries = arguments.values("--remove-dylib")
        for text in arguments.values("--rename-dylib") {
            let (name, path) = try parts(of: text, "--rename-dylib", "NAME=PATH")
            recipe.renamedLibraries.append(.init(name, to: path))
        }
        for text in arguments.values("--unset") { recipe.unsets.append(try key(text, "--unset")) }
        for text in arguments.values("--set") {
            let (path, value) = try parts(of: text, "--set", "KEY=VALUE")
            recipe.settings.append(.init(key: try key(path, "--set"), value: .typed(value)))
        }
        return recipe
    }

    /// Makes the icon of a recipe from its picture; `nil` without one.
    func iconImage(of recipe: SigningRecipe) throws -> (@Sendable (Int) throws -> [UInt8])? {
        guard let path = recipe.icon else { return nil }
        let picture = try InputFile.bytes(path)
        return { side in
            let icon = try Icon.png(from: picture, side: side)
            // Width and height follow the signature and the head of the first chunk (PNG specification, 11.2.2).
            let numbers = [16, 20].map { place in icon.dropFirst(place).prefix(4).reduce(0) { $0 << 8 | Int($1) } }
            guard numbers == [side, side] else {
                throw InputError(
                    message: "\(path): an icon of \(side) × \(side) pixels is needed, and it gives one of "
                        + "\(numbers[0]) × \(numbers[1]).",
                    remedy: "Give a square PNG of 1024 pixels."
                )
            }
            return icon
        }
    }

    private func flag(_ name: String) -> Bool? {
        arguments.flag(name) ? true : nil
    }

    private func onOff(_ name: String) -> Bool? {
        arguments.value(name).map { $0 == "on" }
    }

    private func choice<Choice: RawRepresentable<String>>(_ name: String) -> Choice? {
        arguments.value(name).flatMap { Choice(rawValue: $0) }
    }

    private func selection(_ name: String) -> SigningRecipe.Selection? {
        guard arguments.isGiven(name) else { return nil }
        let names = arguments.values(name)
        return names == ["all"] ? .all : .some(names)
    }

    private func key(_ text: String, _ option: String) throws -> SigningRecipe.Key {
        do {
            return try SigningRecipe.Key(text)
        } catch {
            throw UsageError(.invalidValue, "\(option): \(error.message)", advice: error.remedy ?? "")
        }
    }

    /// What stands before and behind the first `=`.
    func parts(of text: String, _ option: String, _ form: String) throws(UsageError) -> (String, String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw UsageError(.invalidValue, "\(option): “\(text)” is not \(form).")
        }
        return (parts[0], parts[1])
    }
}
