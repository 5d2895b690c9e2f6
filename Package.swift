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
        .library(name: "FerrySigning", targets: ["FerrySigning", "FerryCodeSignature", "FerryAppBundle"]),
        .library(name: "FerryJSONLogReporter", targets: ["FerryJSONLogReporter"]),
        .library(name: "FerryTerminalReporter", targets: ["FerryTerminalReporter"]),
    ],
    targets: [
        // Ground
        system("CCurl", "libcurl", "libcurl4-openssl-dev"),
        system("CDeflate", "libdeflate", "libdeflate-dev"),
        system("CKernel", nil, "libc6-dev"),
        system("COpenSSL", "openssl", "libssl-dev"),
        system("CZlib", "zlib", "zlib1g-dev"),
        module("Bytes", ["CKernel"]),

        // Formats
        module("PropertyList", ["FerryBytes"]),
        module("MachO", ["FerryBytes"]),
        module("CodeSignature", ["FerryBytes", "FerryMachO", "FerryPropertyList", "COpenSSL"]),
        module("AppBundle", ["FerryBytes", "FerryPropertyList", "COpenSSL"]),
        module("Zip", ["FerryBytes", "CZlib", "CDeflate", "CKernel"]),

        // Stages
        module("Activity"),
        module(
            "Signing",
            ["FerryBytes", "FerryMachO", "FerryCodeSignature", "FerryPropertyList", "FerryAppBundle", "FerryZip"]
        ),
        module("Download", ["FerryBytes", "CCurl", "COpenSSL"]),
        module("Installing", ["FerryBytes", "FerryAppBundle", "FerryZip", "CKernel"]),
        module("Sample", ["FerryBytes", "FerryPropertyList", "FerryZip", "COpenSSL", "CZlib"]),

        // Top
        module(
            "Pipeline",
            [
                "FerryBytes", "FerryCodeSignature", "FerryDownload", "FerrySigning", "FerryInstalling", "FerryActivity",
            ]
        ),
        .executableTarget(
            name: "ferry",
            dependencies: [
                "FerryBytes", "FerryPropertyList", "FerryCodeSignature", "FerryAppBundle", "FerryActivity",
                "FerrySigning", "FerryDownload", "FerryInstalling", "FerryPipeline", "FerryTerminalReporter",
                "FerryJSONLogReporter", "FerryMachO",
            ],
            path: "Modules/CLI",
            swiftSettings: settings
        ),

        // Plugins
        plugin("JSONLogReporter"),
        plugin("TerminalReporter"),

        // Tests
        .target(name: "SanitizerRules", path: "Tests/SanitizerRules"),
        .target(name: "TestKit", dependencies: ["SanitizerRules"], path: "Tests/TestKit", swiftSettings: settings),
        tests("Activity", ["TestKit"]),
        tests("Bytes"),
        tests("PropertyList", ["TestKit"]),
        tests("MachO", ["FerryBytes", "FerrySample", "TestKit"]),
        tests("CodeSignature", ["TestKit", "FerryBytes", "FerryPropertyList", "FerryMachO"]),
        tests("AppBundle", ["FerryPropertyList", "TestKit"]),
        tests(
            "Signing",
            [
                "FerryBytes", "FerryMachO", "FerryCodeSignature", "FerryPropertyList", "FerryAppBundle", "FerryZip",
                "FerrySample", "TestKit",
            ]
        ),
        tests("Installing", ["FerryBytes", "FerryPropertyList", "FerryZip", "TestKit"]),
        tests("Sample", ["FerryBytes", "FerryPropertyList", "FerryAppBundle", "FerryMachO", "FerryZip", "TestKit"]),
        tests("Zip", ["FerryBytes", "CZlib", "CDeflate", "TestKit"]),
        .testTarget(
            name: "CLITests",
            dependencies: ["ferry", "FerryBytes", "TestKit"],
            path: "Tests/CLITests",
            swiftSettings: settings
        ),
        tests("JSONLogReporter", ["FerryActivity", "TestKit"]),
        tests("TerminalReporter", ["FerryActivity", "TestKit"]),
        .executableTarget(
            name: "ferry-download-probe",
            dependencies: ["FerryDownload"],
            path: "Tests/DownloadProbe",
            swiftSettings: settings
        ),
        tests("Download", ["TestKit", "FerryBytes", "ferry-download-probe"]),
    ]
)
