import type { Readable } from "node:stream"
import { type Advice, InputError } from "@orangebox/contract"
import { wrapCommand, wrapText } from "@orangebox/text"
import type { Command } from "commander"
import { EXIT } from "./exit-code.js"
import type { Terminal } from "./terminal.js"

/** One call of the command: where it speaks, and what its exit code will be. */
export interface Session {
  readonly terminal: Terminal
  /** What a command reads that is given `-`. */
  readonly stdin: Readable
  /** What was typed behind the name of the program. */
  readonly args: readonly string[]
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
  if (lines.length > 0) command.addHelpText("after", examples(session, lines))
  command.action(async function action(this: Command): Promise<void> {
    if (!WITHOUT_CONFIG.has(command.name())) await checkConfig()
    const options = this.optsWithGlobals<Options & GlobalOptions>()
    session.exitCode = (await shell(session, options, ...this.args)) ?? EXIT.fine
  })
}

/** What says itself how the configuration is, and what has to work in every shell wherever it stands. */
const WITHOUT_CONFIG: ReadonlySet<string> = new Set(["doctor", "completion", "__complete"])

/** A configuration that cannot be used is reported by every command, before it does anything: none knows which setting it would have needed. */
async function checkConfig(): Promise<void> {
  const { findConfigHere } = await import("./config-here.js")
  findConfigHere()
}

/** Options that do not go together, or an argument that is none. */
export const wrongUsage = (what: string, next: string | Advice): InputError => new InputError("USAGE", { what, next })

/**
 * What a help page says below its options, laid out when it is asked for: a paragraph for each line, and for `  name  meaning` one that hangs
 * below its meaning.
 */
export function prose(session: Session, text: string): () => string {
  return () => {
    const { helpColumns } = session.terminal
    const lines = text.split("\n").flatMap((line) => {
      const lead = /^ {2}\S+ {2,}/.exec(line)?.[0] ?? ""
      const indent = lead === "" ? "" : " ".repeat(15)
      return wrapText(line.slice(lead.length), helpColumns, { at: " ", lead, indent })
    })
    return `\n${lines.join("\n")}`
  }
}

/** The examples at the end of it: beside each command its meaning, or below it where there is no room. A long one can still be pasted. */
export function examples(session: Session, lines: readonly Example[]): () => string {
  return () => {
    const { helpColumns } = session.terminal
    const width = Math.max(...lines.map(([command]) => command.length))
    const beside = lines.map(([command, meaning]) => `  ${command.padEnd(width)}   ${meaning}`)
    const areBeside = beside.every((line) => line.length <= helpColumns)
    const below = lines.flatMap(([command, meaning]) => [
      ...wrapCommand(command, helpColumns - 2).map((line) => `  ${line}`),
      ...wrapText(meaning, helpColumns, { at: " ", lead: "      ", indent: "      " }),
    ])
    return `\nExamples:\n${(areBeside ? beside : below).join("\n")}`
  }
}
