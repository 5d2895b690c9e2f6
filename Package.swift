// swift-tools-version: 6.2
import PackageDescription

/// The settings that every target of ours is built with.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// A room of the house: `Modules/Zip` is the target `FerryZip`.
func module(_ name: String, _ needs: [Target.Dependency] = []) -> Target {
    .target(name: "Ferry" + name, dependencies: needs, path: "Modules/" + name, swiftSettings: settings)
}

/// One reporter: `Plugins/TerminalReporter` is the target `FerryTerminalReporter`.
func plugin(_ name: String) -> Target {
    .target(
        name: "Ferry" + name,
        dependencies: ["FerryActivity"],
        path: "Plugins/" + name,
        swiftSettings: settings
    )
}

/// A C library that Debian has: headers and typed shims, no logic.
func system(_ name: String, _ pkgConfig: String?, _ package: String) -> Target {
    .systemLibrary(
        name: name,
        path: "Modules/System/" + name,
        pkgConfig: pkgConfig,
        providers: [.apt([package])]
    )
}

/// The tests of one room.
func tests(_ name: String, _ needs: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: name + "Tests",
        dependencies: [.target(name: "Ferry" + name)] + needs,
        path: "Tests/" + name + "Tests",
        swiftSettings: settings
    )
}

let package = Package(
    name: "ferry",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .executable(name: "ferry", targets: ["ferry"]),
        .library(name: "FerryActivity", targets: ["FerryActivity"]),
        .library(name: "FerryDownload", targets: ["FerryDownload"]),
        .library(name: "FerryIcons", targets: ["FerryIcons"]),
        .library(name: "FerryInstalling", targets: ["FerryInstalling"]),
        .library(name: "FerryJSONLogReporter", targets: ["FerryJSONLogReporter"]),
        .library(name: "FerryPipeline", targets: ["FerryPipeline"]),
        .library(name: "FerrySigning", targets: ["FerrySigning", "FerryCodeSignature", "FerryAppBundle"]),
        .library(name: "FerryTerminalReporter", targets: ["FerryTerminalReporter"]),
    ],
    targets: [
        // Ground
        system("CCurl", "libcurl", "libcurl4-openssl-dev"),
        system("CDeflate", "libdeflate", "libdeflate-dev"),
        system("CKernel", nil, "libc6-dev"),
        system("COpenSSL", "openssl", "libssl-dev"),
        system("CPng", "libpng", "libpng-dev"),
        system("CTurbo", "libturbojpeg", "libturbojpeg0-dev"),
        system("CZlib", "zlib", "zlib1g-dev"),
        module("Bytes", ["CKernel"]),

        // Formats
        module("AppBundle", ["FerryBytes", "FerryPropertyList", "COpenSSL"]),
        module("CodeSignature", ["FerryBytes", "FerryMachO", "FerryPropertyList", "COpenSSL"]),
        module("Icons", ["FerryBytes", "CPng", "CTurbo", "CZlib"]),
        module("MachO", ["FerryBytes"]),
        module("PropertyList", ["FerryBytes"]),
        module("Zip", ["FerryBytes", "CZlib", "CDeflate", "CKernel"]),

        // For the demo and the tests
        module("Sample", ["FerryBytes", "FerryPropertyList", "FerryZip", "COpenSSL", "CZlib"]),

        // Stages
        module("Activity"),
        module("Download", ["FerryBytes", "CCurl", "COpenSSL"]),
        module("Installing", ["FerryBytes", "FerryAppBundle", "FerryZip", "CKernel"]),
        module(
            "Signing",
            ["FerryBytes", "FerryMachO", "FerryCodeSignature", "FerryPropertyList", "FerryAppBundle", "FerryZip"]
        ),

        // Plugins
        plugin("JSONLogReporter"),
        plugin("TerminalReporter"),

        // Top
        module(
            "Pipeline",
            ["FerryBytes", "FerryCodeSignature", "FerryDownload", "FerrySigning", "FerryInstalling", "FerryActivity"]
        ),
        .executableTarget(
            name: "ferry",
            dependencies: [
                "CKernel", "FerryActivity", "FerryAppBundle", "FerryBytes", "FerryCodeSignature", "FerryDownload",
                "FerryIcons", "FerryInstalling", "FerryJSONLogReporter", "FerryPipeline", "FerryPropertyList",
                "FerrySample",
                "FerrySigning", "FerryTerminalReporter",
            ],
            path: "Modules/CLI",
            swiftSettings: settings
        ),

        // Tests
        .target(name: "SanitizerRules", path: "Tests/SanitizerRules"),
        .target(
            name: "TestKit",
            dependencies: ["FerryBytes", "SanitizerRules"],
            path: "Tests/TestKit",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ferry-download-probe",
            dependencies: ["FerryDownload"],
            path: "Tests/DownloadProbe",
            swiftSettings: settings
        ),
        .testTarget(
            name: "CLITests",
            dependencies: ["ferry", "FerryBytes", "FerrySample", "TestKit"],
            path: "Tests/CLITests",
            swiftSettings: settings
        ),
        tests("Activity", ["TestKit"]),
        tests("AppBundle", ["FerryPropertyList", "TestKit"]),
        tests("Bytes", ["TestKit"]),
        tests("CodeSignature", ["FerryBytes", "FerryMachO", "FerryPropertyList", "FerrySample", "TestKit"]),
        tests("Download", ["FerryBytes", "COpenSSL", "TestKit", "ferry-download-probe"]),
        tests("Icons", ["FerryBytes", "FerrySample", "CZlib", "TestKit"]),
        tests("Installing", ["FerryBytes", "FerrySample", "FerryZip", "TestKit"]),
        tests("JSONLogReporter", ["FerryActivity", "TestKit"]),
        tests("MachO", ["FerryBytes", "FerrySample", "TestKit"]),
        tests(
            "Pipeline",
            [
                "FerryActivity", "FerryAppBundle", "FerryBytes", "FerryCodeSignature", "FerryDownload",
                "FerryInstalling",
                "FerrySample", "FerrySigning", "TestKit",
            ]
        ),
        tests("PropertyList", ["TestKit"]),
        tests("Sample", ["FerryAppBundle", "FerryBytes", "FerryMachO", "FerryPropertyList", "FerryZip", "TestKit"]),
        tests(
            "Signing",
            [
                "FerryAppBundle", "FerryBytes", "FerryCodeSignature", "FerryMachO", "FerryPropertyList", "FerrySample",
                "FerryZip", "TestKit",
            ]
        ),
        tests("TerminalReporter", ["FerryActivity", "TestKit"]),
        tests("Zip", ["FerryBytes", "CZlib", "CDeflate", "TestKit"]),
    ]
)
