export const SHELLS = ["bash", "zsh", "fish"] as const
export type ShellName = (typeof SHELLS)[number]

/** The scripts know nothing but how to ask: the command itself says what may come next. */
export function completionScript(shell: ShellName): string {
  return SCRIPTS[shell]
}

const SCRIPTS: Readonly<Record<ShellName, string>> = {
  bash: `# bash completion for orangebox
_orangebox() {
  local IFS=$'\\n'
  COMPREPLY=($(orangebox __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _orangebox orangebox
`,
  zsh: `#compdef orangebox
# zsh completion for orangebox
_orangebox() {
  local -a candidates
  candidates=("\${(@f)$(orangebox __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$candidates" ]]; then compadd -- $candidates; else _files; fi
}
if [ "$funcstack[1]" = "_orangebox" ]; then _orangebox "$@"; else compdef _orangebox orangebox; fi
`,
  fish: `# fish completion for orangebox
function __orangebox_complete
  set -l words (commandline -opc) (commandline -ct)
  orangebox __complete -- $words[2..-1] 2>/dev/null
end
complete -c orangebox -f -a '(__orangebox_complete)'
`,
}
