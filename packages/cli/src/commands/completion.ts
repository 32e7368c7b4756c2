import { safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { completionScript, SHELLS, type ShellName } from "../completion/completion-script.js"
import { bindShell, type GlobalOptions, type Session, wrongUsage } from "../session.js"

export function define(command: Command, session: Session): void {
  command
    .description("Print a script that teaches a shell to complete commands, options and run ids.")
    .argument("<shell>", SHELLS.join(", "))
  bindShell(command, session, printScript, [
    ["source <(orangebox completion bash)", "for this bash; put it into ~/.bashrc to keep it"],
    ["orangebox completion zsh > ~/.zfunc/_orangebox", "with ~/.zfunc in fpath"],
    ["orangebox completion fish > ~/.config/fish/completions/orangebox.fish", "where fish looks"],
  ])
}

function printScript({ terminal }: Session, options: GlobalOptions, name = ""): undefined {
  const shell = SHELLS.find((candidate) => candidate === name) as ShellName | undefined
  if (!shell) {
    throw wrongUsage(`there is no completion for ${safeJson(name)}`, `Shells: ${SHELLS.join(", ")}`)
  }
  const script = completionScript(shell)
  terminal.outVerbatim(options.json ? safeJson({ shell, script }, 2) : script)
  return undefined
}
