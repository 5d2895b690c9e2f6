extension SampleApp {
    /// The image of a Mach-O before anybody changes it.
    func image(_ binary: Binary) -> SampleMachO {
        let isExecutable = [.main, .widget, .share].contains(binary)
        var image = SampleMachO(kind: isExecutable ? .executable : .dylib)
        image.minimumOS = minimumOS
        var random = SampleRandom(seed: seed, name: binary.rawValue)
        image.seed = random.next()
        let share: Int
        switch binary {
        case .main:
            share = 40
            image.libraries =
                (parts.contains(.framework) ? ["@rpath/Tide.framework/Tide"] : [])
                + (parts.contains(.looseLibrary) ? ["@rpath/libLantern.dylib"] : [])
        case .widget, .share:
            share = 5
            image.runPaths.append("@executable_path/../../Frameworks")
        case .framework:
            share = 14
            image.installName = "@rpath/Tide.framework/Tide"
            image.exportedFunction = "_tide_height"
        case .looseLibrary:
            share = 10
            image.installName = "@rpath/libLantern.dylib"
            image.exportedFunction = "_lantern_flash"
        }
        image.payloadBytes = max(1 << 10, approximateBytes / 100 * share)
        if hasSignatureRoom {
            image.signatureRoom = SampleMachO.usualSignatureRoom(for: image.payloadBytes)
        }
        return image
    }

    func binary(_ binary: Binary) -> File {
        var images = [image(binary)]
        changeBinary(binary, &images)
        let slices = images.map { $0.bytes() }
        let bytes = slices.count == 1 ? slices[0] : SampleMachO.fat(slices)
        return File(Self.path(of: binary), bytes, mode: 0o755)
    }
}
