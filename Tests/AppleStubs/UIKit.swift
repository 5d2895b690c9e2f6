// swift-format-ignore-file
//
// A stub of the little of Apple's UIKit that Examples/IslandApp uses; see ActivityKit.swift for what a stub is.

public import Foundation

open class UIImage: NSObject {
    public init?(data: Data) { fatalError() }
}
