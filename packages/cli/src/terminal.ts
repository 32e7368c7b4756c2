import { once } from "node:events"
import type { Readable, Writable } from "node:stream"
import { fitLines, type Painter, plain, safeText } from "@orangebox/text"
import { painterFor } from "./colours.js"
import { type ProgressBar, progressBar } from "./progress-bar.js"

/** Where a command speaks: data on stdout, talk on stderr. */
export interface Terminal {
  /** Data, its lines broken between words where the terminal is narrower; JSON stays as it is. The text must be safe already: what recorded text it holds has gone through query's words, tables or `safeJson`. */
  out(text: string): void
  /** Data whose lines are not ours to break: bodies, tables, scripts. Safe already, like that of `out`. */
  outVerbatim(text: string): void
  /** Exact bytes, for pipes and files. */
  outBytes(bytes: Uint8Array): void
  /** Resolves when the reader of stdout has caught up: for output that must not pile up in memory. */
  drained(): Promise<void>
  /** Talk: hints, warnings. Made safe here. */
  say(line: string): void
  /** Talk whose lines are not ours to break: commands to paste. Made safe here. */
  sayVerbatim(text: string): void
  /** Talk that is safe already and may hold our own colours. */
  sayPainted(text: string): void
  readonly isOutTerminal: boolean
  /** Undefined where nothing limits the width. */
  readonly columns: number | undefined
  /** Of a help page: no wider than is good to read, and the same everywhere but on a terminal. */
  readonly helpColumns: number
  /** Paints nothing where colours would not be seen. */
  readonly paint: Painter
  readonly paintTalk: Painter
  /** A bar for work that may take a while. Whatever is said or printed ends it. */
  readonly progress: ProgressBar
}

/** A terminal, a pipe or a file. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number }

export interface TerminalStreams {
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /** The process's own where none is given. */
  readonly stdin?: Readable
  readonly env: Readonly<Record<string, string | undefined>>
}

export function openTerminal({ stdout, stderr, env }: TerminalStreams): Terminal {
  const isOutTerminal = stdout.isTTY === true
  const columns = columnsOf(stdout, env)
  const progress = progressBar(stderr)
  const write = (stream: OutputStream, what: string | Uint8Array): void => {
    progress.clear()
    stream.write(what)
  }
  const talkColumns = columnsOf(stderr, env)
  const talk = (text: string): void => write(stderr, `${fitted(text, talkColumns)}\n`)
  const outVerbatim = (text: string): void => write(stdout, text.endsWith("\n") ? text : `${text}\n`)
  return {
    out: (text) => outVerbatim(fitted(text, columns)),
    outVerbatim,
    outBytes: (bytes) => write(stdout, bytes),
    drained: async () => void (stdout.writableNeedDrain && (await once(stdout, "drain"))),
    say: (line) => talk(safeText(line)),
    sayVerbatim: (text) => write(stderr, `${safeText(text)}\n`),
    sayPainted: talk,
    isOutTerminal,
    columns,
    helpColumns: Math.min(columns ?? 80, 100),
    paint: painterFor(isOutTerminal, env) ?? plain,
    paintTalk: painterFor(stderr.isTTY === true, env) ?? plain,
    progress,
  }
}

/** A pipe is as wide as COLUMNS says, where it is set; a terminal that says 0 does not know how wide it is. */
function columnsOf({ isTTY, columns }: OutputStream, env: TerminalStreams["env"]): number | undefined {
  return (isTTY === true ? columns : Number(env["COLUMNS"])) || undefined
}

/** JSON is for programs and stays as it is. */
function fitted(text: string, columns: number | undefined): string {
  return columns === undefined || /^[[{]/.test(text) ? text : fitLines(text, columns)
}
