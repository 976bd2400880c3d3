"""``proband completion``: what a shell needs to complete commands, options and names."""

from __future__ import annotations

from typing import Annotated

import typer

from proband.cli import printing
from proband.cli.completing import VARIABLE
from proband.errors import UnknownNameError

BASH = """\
_proband() {
    local line word="${COMP_WORDS[COMP_CWORD]}"
    [[ $word == [=:] ]] && word=""
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            compopt -o filenames
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        else
            [[ $line == *[[:space:]]* ]] && compopt -o filenames
            [[ $line == *= || $line == */// ]] && compopt -o nospace
            COMPREPLY+=("$line")
        fi
    done < <(VARIABLE=bash "${COMP_WORDS[0]}" "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _proband proband
"""

ZSH = """\
#compdef proband
_proband() {
    local line word about
    local -a found
    for line in "${(@f)$(VARIABLE=zsh ${words[1]} "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        if [[ $line == :files ]]; then
            _files
        elif [[ -n $line ]]; then
            word=${line%%$'\\t'*} about=${line#*$'\\t'}
            if [[ $about == $line ]]; then
                found+=("${word//:/\\\\:}")
            else
                found+=("${word//:/\\\\:}:$about")
            fi
        fi
    done
    (( ${#found} )) && _describe 'proband' found
}
if [[ $funcstack[1] == _proband ]]; then
    _proband "$@"
else
    compdef _proband proband
fi
"""

FISH = """\
function __proband_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    for line in (env VARIABLE=fish $words[1] $words[2..-1] "$last" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$last"
        else
            printf '%s\\n' "$line"
        end
    end
end
complete -c proband -f -a '(__proband_complete)'
"""

SCRIPTS = {name: text.replace("VARIABLE", VARIABLE) for name, text in (("bash", BASH), ("zsh", ZSH), ("fish", FISH))}

ShellArgument = Annotated[str, typer.Argument(metavar="SHELL", help=f"{', '.join(SCRIPTS)}.")]


def completion_command(shell: ShellArgument) -> None:
    """Print what a shell needs to complete commands, options, and names of examples, agents and studies.

    bash, in ~/.bashrc: eval "$(proband completion bash)"
    zsh, in ~/.zshrc after compinit: eval "$(proband completion zsh)"
    fish: proband completion fish > ~/.config/fish/completions/proband.fish

    [bold]Examples[/bold]
    $ proband completion fish > ~/.config/fish/completions/proband.fish
    """
    if shell not in SCRIPTS:
        raise UnknownNameError(f"shell {shell!r} is not known; completion is there for {', '.join(SCRIPTS)}; name one")
    printing.say(SCRIPTS[shell], line=False)
