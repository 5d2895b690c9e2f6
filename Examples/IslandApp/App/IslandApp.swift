import AppIntents
import FerryLiveActivity
import Foundation
import SwiftUI

@main
struct IslandApp: App {
    @Environment(\.scenePhase) private var phase
    private let installs: Installs

    /// Everything begins here and not in a view: a pushed start wakes the app in the background, without a scene.
    init() {
        let installs = Installs()
        AppDependencyManager.shared.add(dependency: installs.holding)
        installs.begin()
        self.installs = installs
    }

    var body: some Scene {
        WindowGroup {
            InstallList(installs: installs)
        }
        .onChange(of: phase) { old, new in
            switch (old, new) {
            // Activities are still refused, so this only keeps pushes back.
            case (.background, .inactive): installs.tell(.willEnterForeground)
            // From here on they are granted.
            case (_, .active): installs.tell(.didBecomeActive)
            case (_, .background): installs.tell(.didEnterBackground)
            default: break
            }
        }
    }
}
