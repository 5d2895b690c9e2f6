// swift-format-ignore-file
//
// A stub of the little of Apple's WidgetKit that Examples/IslandApp uses; see ActivityKit.swift for what a stub is.

public import ActivityKit
public import Foundation
@_exported import SwiftUI

public struct ActivityViewContext<Attributes> where Attributes: ActivityAttributes {
    public let attributes: Attributes
    public let state: Attributes.ContentState
    public var isStale: Bool { fatalError() }
    public var activityID: String { fatalError() }
}

@MainActor @preconcurrency public struct ActivityConfiguration<Attributes>: WidgetConfiguration where Attributes: ActivityAttributes {
    public init<Content: View>(
        for attributesType: Attributes.Type,
        @ViewBuilder content: @escaping (ActivityViewContext<Attributes>) -> Content,
        dynamicIsland: @escaping (ActivityViewContext<Attributes>) -> DynamicIsland
    ) { fatalError() }
    public var body: Never { fatalError() }
}

public struct DynamicIslandExpandedRegionPosition: Equatable {
    public static let leading = DynamicIslandExpandedRegionPosition(), trailing = DynamicIslandExpandedRegionPosition()
    public static let center = DynamicIslandExpandedRegionPosition(), bottom = DynamicIslandExpandedRegionPosition()
}

public struct DynamicIslandExpandedRegion<Content> where Content: View {
    public init(_ position: DynamicIslandExpandedRegionPosition, priority: Double = 0, @ViewBuilder content: () -> Content) { fatalError() }
}

public struct DynamicIslandExpandedContent<Content> where Content: View {}

@resultBuilder public struct DynamicIslandExpandedContentBuilder {
    public static func buildPartialBlock<C: View>(first: DynamicIslandExpandedRegion<C>) -> DynamicIslandExpandedContent<C> { fatalError() }
    public static func buildPartialBlock<C0: View, C1: View>(
        accumulated: DynamicIslandExpandedContent<C0>,
        next: DynamicIslandExpandedRegion<C1>
    ) -> DynamicIslandExpandedContent<TupleView<(C0, C1)>> { fatalError() }
}

public struct DynamicIsland {
    public init<Expanded: View, CompactLeading: View, CompactTrailing: View, Minimal: View>(
        @DynamicIslandExpandedContentBuilder expanded: @escaping () -> DynamicIslandExpandedContent<Expanded>,
        @ViewBuilder compactLeading: @escaping () -> CompactLeading,
        @ViewBuilder compactTrailing: @escaping () -> CompactTrailing,
        @ViewBuilder minimal: @escaping () -> Minimal
    ) { fatalError() }
    public func widgetURL(_ url: URL?) -> DynamicIsland { fatalError() }
    public func keylineTint(_ color: Color?) -> DynamicIsland { fatalError() }
}

extension View {
    @MainActor @preconcurrency public func widgetURL(_ url: URL?) -> some View { self }
    @MainActor @preconcurrency public func activitySystemActionForegroundColor(_ color: Color?) -> some View { self }
}

public enum ActivityPreviewViewKind {
    public enum DynamicIslandPreviewViewState { case compact, minimal, expanded }
    case content
    case dynamicIsland(DynamicIslandPreviewViewState)
}

@resultBuilder public struct PreviewActivityBuilder<A> where A: ActivityAttributes {
    public static func buildExpression(_ state: A.ContentState) -> [A.ContentState] { fatalError() }
    public static func buildPartialBlock(first: [A.ContentState]) -> [A.ContentState] { fatalError() }
    public static func buildPartialBlock(accumulated: [A.ContentState], next: [A.ContentState]) -> [A.ContentState] { fatalError() }
    public static func buildArray(_ states: [[A.ContentState]]) -> [A.ContentState] { fatalError() }
}

extension Preview {
    @MainActor public init<Attributes: ActivityAttributes>(
        _ name: String? = nil,
        as viewKind: ActivityPreviewViewKind,
        using attributes: Attributes,
        widget: @escaping () -> some Widget,
        @PreviewActivityBuilder<Attributes> contentStates: @escaping @MainActor () async -> [Attributes.ContentState]
    ) { fatalError() }
}
