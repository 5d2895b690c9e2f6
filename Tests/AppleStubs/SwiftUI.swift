// swift-format-ignore-file
//
// A stub of the little of Apple's SwiftUI that Examples/IslandApp uses; see ActivityKit.swift for what a stub is.
//
// Every modifier returns `some View`, whatever it returns there. What SwiftUI re-exports from other modules is declared
// here.

@_exported import Foundation
public import UIKit

// MARK: Views

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
    public var body: Never { fatalError() }
}

public protocol Primitive: View where Body == Never {}
extension Primitive {
    public var body: Never { fatalError() }
}

public struct EmptyView: Primitive {
    public init() {}
}
public struct TupleView<T>: Primitive {}
public struct _ConditionalContent<First: View, Second: View>: Primitive {}
extension Optional: View where Wrapped: View {
    public var body: Never { fatalError() }
}

@resultBuilder public struct ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { fatalError() }
    public static func buildBlock() -> EmptyView { fatalError() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { fatalError() }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<(repeat each Content)> { fatalError() }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { fatalError() }
    public static func buildEither<First: View, Second: View>(first: First) -> _ConditionalContent<First, Second> { fatalError() }
    public static func buildEither<First: View, Second: View>(second: Second) -> _ConditionalContent<First, Second> { fatalError() }
}

public struct LocalizedStringKey: Equatable, ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { fatalError() }
}

public struct Text: Primitive, Equatable {
    public init(_ key: LocalizedStringKey) { fatalError() }
    @_disfavoredOverload public init<S: StringProtocol>(_ content: S) { fatalError() }
    public init(timerInterval: ClosedRange<Date>, pauseTime: Date? = nil, countsDown: Bool = true, showsHours: Bool = true) { fatalError() }
}

public struct Image: Primitive, Equatable {
    public init(systemName: String) { fatalError() }
    public init(uiImage: UIImage) { fatalError() }
    public func resizable() -> Image { fatalError() }
}

public struct Label<Title: View, Icon: View>: Primitive {}
extension Label where Title == Text, Icon == Image {
    public init(_ titleKey: LocalizedStringKey, systemImage name: String) { fatalError() }
}

public struct Group<Content>: Primitive {
    public init(@ViewBuilder content: () -> Content) { fatalError() }
}
public struct HStack<Content: View>: Primitive {
    public init(alignment: VerticalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) { fatalError() }
}
public struct VStack<Content: View>: Primitive {
    public init(alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) { fatalError() }
}
public struct Spacer: Primitive {
    public init(minLength: CGFloat? = nil) { fatalError() }
}
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: Primitive {
    public init(_ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content) { fatalError() }
}
public struct List<Content: View>: Primitive {
    public init(@ViewBuilder content: () -> Content) { fatalError() }
}
public struct NavigationStack<Root: View>: Primitive {
    public init(@ViewBuilder root: () -> Root) { fatalError() }
}
public struct ProgressView: Primitive {
    public init<V: BinaryFloatingPoint>(value: V?, total: V = 1.0) { fatalError() }
}
public struct Button<Label: View>: Primitive {
    public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) { fatalError() }
}

// MARK: What they look like

public protocol ShapeStyle: Sendable {}
public struct Color: ShapeStyle, Hashable {
    public static let cyan = Color(), green = Color(), orange = Color(), red = Color(), primary = Color()
    public static let secondary = Color()
}
public struct HierarchicalShapeStyle: ShapeStyle {}
extension ShapeStyle where Self == HierarchicalShapeStyle {
    public static var secondary: HierarchicalShapeStyle { fatalError() }
}

public protocol Shape: View {}
public struct RoundedRectangle: Shape, Primitive {
    public init(cornerRadius: CGFloat) { fatalError() }
}

public struct Font: Hashable, Sendable {
    public struct Weight: Hashable, Sendable {
        public static let semibold = Weight()
    }
    public static let headline = Font(), subheadline = Font(), caption = Font()
    public func weight(_ weight: Weight) -> Font { fatalError() }
}

public struct HorizontalAlignment: Sendable {
    public static let leading = HorizontalAlignment(), center = HorizontalAlignment(), trailing = HorizontalAlignment()
}
public struct VerticalAlignment: Sendable {
    public static let center = VerticalAlignment()
}
public struct Alignment: Sendable {
    public static let center = Alignment(), trailing = Alignment()
}
public enum TextAlignment: Sendable { case leading, center, trailing }

public struct AccessibilityChildBehavior: Sendable {
    public static let ignore = AccessibilityChildBehavior(), combine = AccessibilityChildBehavior()
}

public protocol LabelStyle {}
public struct IconOnlyLabelStyle: LabelStyle {}
extension LabelStyle where Self == IconOnlyLabelStyle {
    public static var iconOnly: IconOnlyLabelStyle { fatalError() }
}
public protocol PrimitiveButtonStyle {}
public struct BorderedButtonStyle: PrimitiveButtonStyle {}
extension PrimitiveButtonStyle where Self == BorderedButtonStyle {
    public static var bordered: BorderedButtonStyle { fatalError() }
}
public struct ButtonBorderShape: Sendable {
    public static let circle = ButtonBorderShape()
}

extension View {
    public func font(_ font: Font?) -> some View { self }
    public func monospacedDigit() -> some View { self }
    public func lineLimit(_ number: Int?) -> some View { self }
    public func minimumScaleFactor(_ factor: CGFloat) -> some View { self }
    public func multilineTextAlignment(_ alignment: TextAlignment) -> some View { self }
    public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View { self }
    public func tint(_ tint: Color?) -> some View { self }
    public func opacity(_ opacity: Double) -> some View { self }
    public func padding() -> some View { self }
    public func scaledToFit() -> some View { self }
    public func clipShape<S: Shape>(_ shape: S) -> some View { self }
    public func frame(width: CGFloat? = nil, height: CGFloat? = nil, alignment: Alignment = .center) -> some View { self }
    public func frame(
        minWidth: CGFloat? = nil, idealWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, minHeight: CGFloat? = nil,
        idealHeight: CGFloat? = nil, maxHeight: CGFloat? = nil, alignment: Alignment = .center
    ) -> some View { self }
    public func labelStyle<S: LabelStyle>(_ style: S) -> some View { self }
    public func buttonStyle<S: PrimitiveButtonStyle>(_ style: S) -> some View { self }
    public func buttonBorderShape(_ shape: ButtonBorderShape) -> some View { self }
    public func accessibilityHidden(_ hidden: Bool) -> some View { self }
    public func accessibilityLabel<S: StringProtocol>(_ label: S) -> some View { self }
    public func accessibilityElement(children: AccessibilityChildBehavior = .ignore) -> some View { self }
    public func navigationTitle(_ titleKey: LocalizedStringKey) -> some View { self }
    public func onOpenURL(perform action: @escaping (URL) -> Void) -> some View { self }
    public func task(priority: TaskPriority = .userInitiated, @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void) -> some View { self }
}

// MARK: State

@propertyWrapper public struct State<Value> {
    public init(wrappedValue: Value) { fatalError() }
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set { fatalError() }
    }
}

public enum ScenePhase: Comparable, Sendable { case background, inactive, active }

public struct EnvironmentValues {
    public var isLuminanceReduced: Bool { fatalError() }
    public var scenePhase: ScenePhase { fatalError() }
}

@propertyWrapper public struct Environment<Value> {
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { fatalError() }
    public var wrappedValue: Value { fatalError() }
}

// MARK: Apps

@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
}
extension Never: Scene {}

@resultBuilder public struct SceneBuilder {
    public static func buildExpression<Content: Scene>(_ content: Content) -> Content { fatalError() }
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { fatalError() }
}

@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
    @MainActor @preconcurrency init()
}
extension App {
    @MainActor @preconcurrency public static func main() { fatalError() }
}

public struct WindowGroup<Content: View>: Scene {
    public init(@ViewBuilder content: () -> Content) { fatalError() }
    public var body: Never { fatalError() }
}

extension Scene {
    public func onChange<V: Equatable>(of value: V, initial: Bool = false, _ action: @escaping (_ oldValue: V, _ newValue: V) -> Void) -> some Scene { self }
}

// MARK: Widgets, which WidgetKit re-exports

@MainActor @preconcurrency public protocol WidgetConfiguration {
    associatedtype Body: WidgetConfiguration
    var body: Body { get }
}
extension Never: WidgetConfiguration {}

@MainActor @preconcurrency public protocol Widget {
    associatedtype Body: WidgetConfiguration
    var body: Body { get }
    init()
}

@MainActor @preconcurrency public protocol WidgetBundle {
    associatedtype Body: Widget
    @WidgetBundleBuilder var body: Body { get }
    init()
}
extension WidgetBundle {
    @MainActor @preconcurrency public static func main() { fatalError() }
}

@resultBuilder public struct WidgetBundleBuilder {
    public static func buildBlock<Content: Widget>(_ content: Content) -> Content { fatalError() }
}

// MARK: Previews

/// What `#Preview` makes. Macros need a plug-in, so Scripts/check-apple writes this in the place of `#Preview`.
@MainActor public struct Preview {
    init(stub: Void) {}
}
