import { InputError } from "@orangebox/contract"
import type { Command } from "commander"
import { EXIT } from "./exit-code.js"
import type { Terminal } from "./terminal.js"

/** One call of the command: where it speaks, and what its exit code will be. */
export interface Session {
  readonly terminal: Terminal
  /** One of `EXIT`; `orangebox run` hands on the exit code of its command. */
  exitCode: number
}

/** Options that every command has. */
export interface GlobalOptions {
  readonly json?: boolean
  /** The data folder, where it is not the one that is found from here. */
  readonly data?: string
}

type Shell<Options> = (
  session: Session,
  options: Options & GlobalOptions,
  ...args: string[]
) => Promise<number | undefined> | number | undefined

type Example = readonly [command: string, meaning: string]

/** Ends the definition of a command: examples for its help page, and a shell that is called with options, arguments and the session. */
export function bindShell<Options>(
  command: Command,
  session: Session,
  shell: Shell<Options>,
  lines: readonly Example[] = [],
): void {
  if (lines.length > 0) command.addHelpText("after", examples(lines))
  command.action(async function action(this: Command): Promise<void> {
    if (!WITHOUT_CONFIG.has(command.name())) await checkConfig()
    const options = this.optsWithGlobals<Options & GlobalOptions>()
    session.exitCode = (await shell(session, options, ...this.args)) ?? EXIT.fine
  })
}

/** What says itself how the configuration is, and what has to work in every shell wherever it stands. */
const WITHOUT_CONFIG: ReadonlySet<string> = new Set(["doctor", "completion", "__complete"])

/** A configuration that cannot be used is told by every command, before it does anything: none knows which setting it would have needed. */
async function checkConfig(): Promise<void> {
  const { findConfig } = await import("@orangebox/recorder")
  findConfig(process.cwd())
}

/** Options that do not go together, or an argument that is none. */
export const wrongUsage = (what: string, next: string): InputError => new InputError("USAGE", { what, next })

/** The examples at the end of a help page. */
export function examples(lines: readonly Example[]): string {
  const width = Math.max(...lines.map(([command]) => command.length))
  return `\nExamples:\n${lines.map(([command, meaning]) => `  ${command.padEnd(width)}   ${meaning}`).join("\n")}`
}
