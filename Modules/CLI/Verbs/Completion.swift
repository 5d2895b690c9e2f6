/// `ferry completion`: lets a shell complete the command.
enum Completion {
    static let verb = Verb(
        name: "completion",
        summary: "print the completion script for a shell",
        examples: [
            .init(purpose: "For this bash", command: "source <(ferry completion bash)"),
            .init(
                purpose: "For every zsh from now on, in a folder of $fpath",
                command: "ferry completion zsh > ~/.zfunc/_ferry"
            ),
        ],
        positionals: [Positional(name: "SHELL", kind: .choice(["bash", "zsh"]), help: "the shell: bash or zsh")],
        run: { invocation in
            let isBash = invocation.arguments.required("SHELL") == "bash"
            let program = invocation.program
            invocation.console.write(isBash ? BashCompletion.script(for: program) : ZshCompletion.script(for: program))
            return .done
        }
    )
}
