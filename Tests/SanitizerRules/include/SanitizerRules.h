// Nothing to call: the thread sanitizer finds the rules by their name.
