import FerryActivity
import FerryLiveActivity
import Foundation
import SwiftUI

/// The installs in the words of the island, and a button that begins one to look at.
struct InstallList: View {
    let installs: Installs
    @State private var shown = IslandPresentation(IslandState(), words: .ofTheApp)

    var body: some View {
        NavigationStack {
            List {
                Text(shown.lockScreen.title).font(.headline)
                ForEach(Array(shown.expanded.rows.enumerated()), id: \.offset) { _, row in
                    HStack {
                        Text(row.title)
                        Spacer()
                        Text(row.label).monospacedDigit().foregroundStyle(.secondary)
                    }
                    .accessibilityElement(children: .combine)
                }
                Button {
                    Task { await Demo.install(in: installs.center) }
                } label: {
                    Label("try", systemImage: "plus")
                }
            }
            .navigationTitle("installs")
        }
        .task {
            for await update in await installs.center.subscribe(named: "the screen") {
                shown = IslandPresentation(IslandState(update.activity, seq: 0), words: .ofTheApp)
            }
        }
        .onOpenURL { url in
            // A tap on the island. There is but one screen here; yours may have to be shown first.
            assert(Links.leadsToInstalls(url))
        }
    }
}
