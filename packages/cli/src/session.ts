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

export type Shell<Options> = (
  session: Session,
  options: Options & GlobalOptions,
  ...args: string[]
) => Promise<number | undefined> | number | undefined

/** Binds a command's shell to the session: its options with the global ones, its arguments, its exit code. */
export function shellOf<Options>(session: Session, shell: Shell<Options>) {
  return async function action(this: Command): Promise<void> {
    const options = this.optsWithGlobals<Options & GlobalOptions>()
    session.exitCode = (await shell(session, options, ...this.args)) ?? EXIT.fine
  }
}

/** The examples at the end of a help page. */
export function examples(lines: readonly (readonly [command: string, meaning: string])[]): string {
  const width = Math.max(...lines.map(([command]) => command.length))
  return `\nExamples:\n${lines.map(([command, meaning]) => `  ${command.padEnd(width)}   ${meaning}`).join("\n")}`
}
