// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "CustomReporter",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "ferry", path: "../..")],
    targets: [
        .executableTarget(
            name: "CustomReporter",
            dependencies: [.product(name: "FerryActivity", package: "ferry")]
        )
    ]
)
