#!/bin/sh
# Runs a command of yours for each install that ends, with a sentence as its last argument:
#
#     ferry install … --reporter 'exec:Examples/CommandReporters/on-end.sh notify-send Ferry'
#
# Each line of standard input is an object of docs/json-log.md: on one line, its keys always in the same order, and every
# quote in a text escaped, so that sed can take it apart.
set -eu

# The text of a key; \" and \\ are put right, other escapes stay.
value() { printf '%s\n' "$line" | sed -nE "s/.*[{,]\"$1\":\"(([^\"\\\\]|\\\\.)*)\".*/\1/p" | sed -E 's/\\(["\\])/\1/g'; }

while IFS= read -r line; do
    case $line in *'"kind":"finished"'*) ;; *) continue ;; esac
    title=$(value title)
    case $(value outcome) in
        installed) sentence="$title is installed." ;;
        failed) sentence="$title failed: $(value message)" ;;
        *) continue ;;
    esac
    # A command that fails must not end this program, and must not read what we are told.
    "$@" "$sentence" </dev/null || printf 'failed: %s\n' "$*" >&2
done
