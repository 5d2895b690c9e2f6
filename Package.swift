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
func plugin(_ name: String, _ needs: [Target.Dependency] = []) -> Target {
    .target(
        name: "Ferry" + name,
        dependencies: ["FerryActivity"] + needs,
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

/// The tests of one room; `exclude` are its files that are read where they lie.
func tests(_ name: String, _ needs: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .testTarget(
        name: name + "Tests",
        dependencies: [.target(name: "Ferry" + name)] + needs,
        path: "Tests/" + name + "Tests",
        exclude: exclude,
        swiftSettings: settings
    )
}

let package = Package(
    name: "ferry",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .executable(name: "ferry", targets: ["ferry"]),
        .library(name: "FerryAPNs", targets: ["FerryAPNs"]),
        .library(name: "FerryAPNsReporter", targets: ["FerryAPNsReporter"]),
        .library(name: "FerryActivity", targets: ["FerryActivity"]),
        .library(name: "FerryCatalog", targets: ["FerryCatalog", "FerryAppBundle", "FerryPropertyList", "FerryWeb"]),
        .library(name: "FerryCertificates", targets: ["FerryCertificates", "FerryCodeSignature", "FerryWeb"]),
        .library(name: "FerryCommandReporter", targets: ["FerryCommandReporter"]),
        .library(name: "FerryDevice", targets: ["FerryDevice", "FerryAppBundle", "FerryInstalling"]),
        .library(name: "FerryDownload", targets: ["FerryDownload"]),
        .library(name: "FerryIcons", targets: ["FerryIcons"]),
        .library(name: "FerryInstalling", targets: ["FerryInstalling"]),
        .library(name: "FerryJSONLogReporter", targets: ["FerryJSONLogReporter"]),
        .library(name: "FerryLiveActivity", targets: ["FerryLiveActivity"]),
        .library(name: "FerryPipeline", targets: ["FerryPipeline", "FerryRecord"]),
        .library(name: "FerrySigning", targets: ["FerrySigning", "FerryCodeSignature", "FerryAppBundle"]),
        .library(name: "FerryTerminalReporter", targets: ["FerryTerminalReporter"]),
        .library(name: "FerryWebReporter", targets: ["FerryWebReporter"]),
    ],
    targets: [
        // Ground
        system("CArchive", "libarchive", "libarchive-dev"),
        system("CCurl", "libcurl", "libcurl4-openssl-dev"),
        system("CDeflate", "libdeflate", "libdeflate-dev"),
        system("CIMobileDevice", "libimobiledevice-1.0", "libimobiledevice-dev"),
        system("CKernel", nil, "libc6-dev"),
        system("CMicroHTTPD", "libmicrohttpd", "libmicrohttpd-dev"),
        system("CNghttp2", "libnghttp2", "libnghttp2-dev"),
        system("COpenSSL", "openssl", "libssl-dev"),
        system("CPng", "libpng", "libpng-dev"),
        system("CQRencode", "libqrencode", "libqrencode-dev"),
        system("CSQLite", "sqlite3", "libsqlite3-dev"),
        system("CTurbo", "libturbojpeg", "libturbojpeg0-dev"),
        system("CZlib", "zlib", "zlib1g-dev"),
        module("Bytes", ["CKernel"]),

        // Formats
        module("AppBundle", ["FerryBytes", "FerryPropertyList", "COpenSSL"]),
        module("Archives", ["FerryBytes", "FerryMachO", "FerryPropertyList", "CArchive"]),
        module("CodeSignature", ["FerryBytes", "FerryMachO", "FerryPropertyList", "COpenSSL"]),
        module("Icons", ["FerryBytes", "CPng", "CTurbo", "CZlib"]),
        module("MachO", ["FerryBytes"]),
        module("PropertyList", ["FerryBytes"]),
        module("Zip", ["FerryBytes", "CZlib", "CDeflate", "CKernel"]),

        // For the demo and the tests
        module("StandInAPNs", ["FerryBytes", "CNghttp2", "COpenSSL"]),
        module("Sample", ["FerryBytes", "FerryPropertyList", "FerryZip", "COpenSSL", "CZlib"]),

        // The push service
        module("APNs", ["FerryBytes", "CNghttp2", "COpenSSL"]),

        // A server, and small things on the web
        module("HTTP", ["FerryBytes", "CMicroHTTPD"]),
        module("Web", ["FerryBytes", "CCurl"]),

        // Stages
        module("Activity"),
        module("Catalog", ["FerryAppBundle", "FerryBytes", "FerryCodeSignature", "FerryPropertyList", "FerryWeb"]),
        module("Certificates", ["FerryBytes", "FerryCodeSignature", "FerryWeb"]),
        module(
            "Device",
            ["FerryAppBundle", "FerryBytes", "FerryInstalling", "FerryPropertyList", "FerryZip", "CIMobileDevice"]
        ),
        module("Download", ["FerryBytes", "FerryWeb", "CCurl", "COpenSSL"]),
        module("Installing", ["FerryBytes", "FerryAppBundle", "FerryZip", "CKernel"]),
        module("LiveActivity", ["FerryActivity"]),
        module(
            "OverTheAir",
            [
                "FerryAppBundle", "FerryBytes", "FerryHTTP", "FerryIcons", "FerryInstalling", "FerryPropertyList",
                "FerryZip", "COpenSSL", "CQRencode",
            ]
        ),
        module("Record", ["FerryActivity", "FerryBytes", "CSQLite"]),
        module(
            "Signing",
            [
                "FerryAppBundle", "FerryArchives", "FerryBytes", "FerryCodeSignature", "FerryMachO",
                "FerryPropertyList", "FerryZip",
            ]
        ),

        // Plugins
        plugin("APNsReporter", ["FerryAPNs", "FerryBytes", "FerryLiveActivity"]),
        plugin("CommandReporter", ["CKernel", "FerryBytes"]),
        plugin("JSONLogReporter"),
        plugin("TerminalReporter"),
        plugin("WebReporter", ["FerryBytes", "FerryLiveActivity"]),

        // Top
        module(
            "Pipeline",
            [
                "FerryBytes", "FerryCatalog", "FerryCodeSignature", "FerryDownload", "FerryIcons", "FerrySigning",
                "FerryInstalling",
                "FerryActivity", "FerryRecord",
            ]
        ),
        .target(
            name: "FerryServer",
            dependencies: [
                "FerryActivity", "FerryBytes", "FerryCodeSignature", "FerryHTTP", "FerryPipeline", "FerryPropertyList",
                "FerryRecord", "FerrySigning", "FerryWebReporter",
            ],
            path: "Modules/Server",
            resources: [.embedInCode("Pages"), .embedInCode("openapi.json")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ferry",
            dependencies: [
                "CKernel", "FerryAPNs", "FerryAPNsReporter", "FerryActivity", "FerryAppBundle", "FerryBytes",
                "FerryCatalog", "FerryCertificates", "FerryCodeSignature", "FerryCommandReporter", "FerryDevice",
                "FerryDownload",
                "FerryHTTP", "FerryIcons", "FerryInstalling", "FerryOverTheAir",
                "FerryJSONLogReporter", "FerryLiveActivity", "FerryPipeline", "FerryPropertyList", "FerryRecord",
                "FerrySample", "FerryServer", "FerrySigning", "FerryStandInAPNs", "FerryTerminalReporter", "FerryWeb",
                "FerryWebReporter",
            ],
            path: "Modules/CLI",
            swiftSettings: settings
        ),

        // Tests
        .target(name: "SanitizerRules", path: "Tests/SanitizerRules"),
        .systemLibrary(name: "CFuzzer", path: "Tests/CFuzzer"),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "CZlib", "FerryAPNs", "FerryAPNsReporter", "FerryAppBundle", "FerryArchives", "FerryBytes",
                "FerryCatalog", "FerryCodeSignature", "FerryDownload", "FerryIcons", "FerryLiveActivity", "FerryMachO",
                "FerryPropertyList", "FerrySigning", "FerryWeb", "FerryZip",
            ],
            path: "Tests/FuzzTargets",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ferry-fuzz",
            dependencies: ["CFuzzer", "FerryBytes", "FuzzTargets"],
            path: "Tests/FuzzDriver",
            swiftSettings: settings
        ),
        .testTarget(
            name: "FuzzTests",
            dependencies: ["FuzzTargets", "TestKit"],
            path: "Tests/FuzzTests",
            swiftSettings: settings
        ),
        .target(
            name: "TestKit",
            dependencies: ["FerryBytes", "SanitizerRules"],
            path: "Tests/TestKit",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ferry-benchmarks",
            dependencies: ["FerryBytes", "FerryCodeSignature", "FerryMachO", "FerryZip"],
            path: "Tests/Benchmarks",
            exclude: ["large_archive.py"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ferry-download-probe",
            dependencies: ["FerryDownload"],
            path: "Tests/DownloadProbe",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ferry-soak",
            dependencies: [
                "FerryActivity", "FerryAppBundle", "FerryBytes", "FerryCodeSignature", "FerryDownload",
                "FerryInstalling", "FerryPipeline", "FerryRecord", "FerrySample", "FerrySigning", "TestKit",
            ],
            path: "Tests/Soak",
            swiftSettings: settings
        ),
        .testTarget(
            name: "SoakTests",
            dependencies: ["TestKit", "ferry-soak"],
            path: "Tests/SoakTests",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ferry-viewers",
            dependencies: [
                "FerryActivity", "FerryBytes", "FerryDownload", "FerryHTTP", "FerryInstalling", "FerryPipeline",
                "FerrySample", "FerryServer", "FerrySigning", "FerryWebReporter", "TestKit",
            ],
            path: "Tests/ViewerBench",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ferry-slow-line",
            dependencies: ["TestKit"],
            path: "Tests/SlowLine",
            swiftSettings: settings
        ),
        .target(
            name: "StandInDevice",
            dependencies: ["COpenSSL", "FerryBytes", "FerryPropertyList", "FerryZip"],
            path: "Tests/StandInDevice",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ferry-device-probe",
            dependencies: ["FerryDevice", "FerryInstalling"],
            path: "Tests/DeviceProbe",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ferry-stand-in-device",
            dependencies: ["StandInDevice"],
            path: "Tests/StandInDeviceProgram",
            swiftSettings: settings
        ),
        .testTarget(
            name: "CLITests",
            dependencies: ["ferry", "FerryBytes", "FerrySample", "StandInDevice", "TestKit"],
            path: "Tests/CLITests",
            swiftSettings: settings
        ),
        .testTarget(
            name: "BrowserTests",
            dependencies: ["ferry", "FerryBytes", "FerrySample", "TestKit"],
            path: "Tests/BrowserTests",
            exclude: ["browser.py", "carry.py", "check_pages.py", "looks.py", "stand_in.py"],
            swiftSettings: settings
        ),
        tests("APNs", ["FerryBytes", "FerryStandInAPNs", "TestKit"]),
        tests(
            "APNsReporter",
            ["FerryAPNs", "FerryActivity", "FerryBytes", "FerryLiveActivity", "FerryStandInAPNs", "TestKit"]
        ),
        tests("Activity", ["TestKit"]),
        tests("AppBundle", ["FerryPropertyList", "TestKit"]),
        tests("Archives", ["FerryBytes", "FerryMachO", "TestKit"]),
        tests("Bytes", ["TestKit"]),
        tests("Catalog", ["FerryAppBundle", "FerryBytes", "FerryPropertyList", "FerryWeb", "TestKit"]),
        tests("Certificates", ["FerryBytes", "FerryCodeSignature", "FerryWeb", "TestKit"]),
        tests(
            "CodeSignature",
            ["COpenSSL", "FerryBytes", "FerryMachO", "FerryPropertyList", "FerrySample", "TestKit"]
        ),
        tests("CommandReporter", ["FerryActivity", "FerryBytes", "TestKit"]),
        tests(
            "Device",
            [
                "CIMobileDevice", "FerryAppBundle", "FerryBytes", "FerryInstalling", "FerryPropertyList", "FerrySample",
                "FerryZip", "StandInDevice", "TestKit", "ferry-device-probe", "ferry-stand-in-device",
            ]
        ),
        tests("Download", ["FerryBytes", "FerryWeb", "COpenSSL", "TestKit", "ferry-download-probe"]),
        tests("HTTP", ["FerryBytes", "TestKit"]),
        tests("Icons", ["FerryBytes", "FerrySample", "CZlib", "TestKit"]),
        tests("Installing", ["FerryAppBundle", "FerryBytes", "FerrySample", "FerryZip", "TestKit"]),
        tests("JSONLogReporter", ["FerryActivity", "TestKit"]),
        tests("LiveActivity", ["FerryActivity", "TestKit"], exclude: ["Golden"]),
        tests("MachO", ["FerryBytes", "FerrySample", "TestKit"]),
        tests(
            "Pipeline",
            [
                "FerryActivity", "FerryAppBundle", "FerryBytes", "FerryCatalog", "FerryCodeSignature", "FerryDownload",
                "FerryIcons", "FerryInstalling", "FerryRecord",
                "FerrySample", "FerrySigning", "TestKit",
            ]
        ),
        tests(
            "OverTheAir",
            [
                "FerryBytes", "FerryHTTP", "FerryIcons", "FerryInstalling", "FerryPropertyList", "FerrySample",
                "TestKit",
            ]
        ),
        tests("PropertyList", ["TestKit"]),
        tests("Record", ["FerryActivity", "TestKit"]),
        tests("Sample", ["FerryAppBundle", "FerryBytes", "FerryMachO", "FerryPropertyList", "FerryZip", "TestKit"]),
        tests(
            "Signing",
            [
                "FerryAppBundle", "FerryBytes", "FerryCodeSignature", "FerryMachO", "FerryPropertyList", "FerrySample",
                "FerryZip", "TestKit",
            ]
        ),
        tests(
            "Server",
            [
                "FerryActivity", "FerryBytes", "FerryDownload", "FerryHTTP", "FerryInstalling", "FerryPipeline",
                "FerryRecord", "FerrySample", "FerrySigning", "FerryWebReporter", "TestKit",
            ]
        ),
        tests("TerminalReporter", ["FerryActivity", "TestKit"]),
        tests("Web", ["FerryBytes", "TestKit"]),
        tests("WebReporter", ["FerryActivity", "FerryLiveActivity", "TestKit"]),
        tests("Zip", ["FerryBytes", "CZlib", "CDeflate", "TestKit"]),
    ]
)
