/// `ferry help`: what the command does, or one of its verbs.
enum Help {
    static let verb = Verb(
        name: "help",
        summary: "show what ferry does, or all about one verb",
        examples: [.init(purpose: "About signing", command: "ferry help sign")],
        positionals: [
            Positional(name: "VERB", kind: .verb, help: "the verb to explain", isOptional: true, repeats: true)
        ],
        run: { invocation in
            let stream = invocation.console.output
            let page = HelpPage(columns: stream.columns(), hasStyle: stream.hasStyle)
            let name = invocation.arguments.values("VERB").joined(separator: " ")
            if !name.isEmpty {
                invocation.console.write(page.page(of: try invocation.program.named(name)))
            } else {
                invocation.console.write(page.overview(of: invocation.program))
            }
            return .done
        }
    )
}
