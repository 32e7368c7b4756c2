import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { basename, dirname, join } from "node:path"
import { InputError } from "@orangebox/contract"
import { isAtif } from "../formats/atif.js"
import { recordOf } from "../formats/told-values.js"
import { readLines } from "./read-lines.js"

export type SourceFormat = "claude-code" | "codex" | "raw-bodies" | "atif" | "orca-trace"

/** A record of another program: a file, or a folder whose files belong together. */
export interface Source {
  readonly format: SourceFormat
  readonly path: string
  readonly bytes: number
  /** What it is called in its format. */
  readonly session: string
  /** Of a sub-agent's transcript. */
  readonly agentId?: string
  /** The first line that has an id: files that share it are copies of one session. */
  readonly firstLine?: string
  readonly firstAt?: string
}

export interface FoundSources {
  readonly sources: readonly Source[]
  /** Files that are none of the formats, with why. */
  readonly others: readonly { readonly path: string; readonly reason: string }[]
}

/** Where coding agents keep their transcripts on this machine. */
export function usualPlaces(env: Readonly<Record<string, string | undefined>>, home = homedir()): string[] {
  const claude = env["CLAUDE_CONFIG_DIR"] ?? join(home, ".claude")
  const codex = env["CODEX_HOME"] ?? join(home, ".codex")
  const places = [
    join(claude, "projects"),
    join(home, ".config", "claude", "projects"),
    join(codex, "sessions"),
    join(codex, "archived_sessions"),
  ]
  return [...new Set(places)].filter(isFolder)
}

export async function findSources(paths: readonly string[]): Promise<FoundSources> {
  const sources: Source[] = []
  const others: { path: string; reason: string }[] = []
  const seen = new Set<string>()
  for (const path of paths) await look(path, true)
  return { sources, others }

  async function look(path: string, isNamed: boolean): Promise<void> {
    const stat = statOf(path, isNamed)
    if (stat === undefined) return
    const real = realpathSync(path)
    if (seen.has(real)) return
    seen.add(real)
    if (stat.isDirectory()) {
      const folder = folderSource(path)
      if (folder !== undefined) sources.push(folder)
      else for (const name of readdirSync(path).sort()) await look(join(path, name), false)
      return
    }
    if (!stat.isFile()) return
    const source = await fileSource(path, stat.size)
    if (typeof source === "object") sources.push(source)
    else if (isNamed || LINES.test(path)) others.push({ path, reason: source })
  }
}

const LINES = /\.jsonl(?:\.zst|\.gz)?$/
const DOCUMENT = /\.json$/

function statOf(path: string, isNamed: boolean) {
  try {
    // What stands in a folder is not followed elsewhere; what was named is.
    return isNamed ? statSync(path) : lstatSync(path)
  } catch (cause) {
    if (!isNamed) return undefined
    throw new InputError("CANNOT_IMPORT", {
      what: `it cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      where: path,
      next: "Name a transcript, a folder of them, or a file that orangebox export wrote",
      cause,
    })
  }
}

/** A folder whose files make one record. */
function folderSource(path: string): Source | undefined {
  const names = new Set(readdirSync(path))
  const session = basename(path)
  const bytes = (): number =>
    [...names].reduce((sum, name) => sum + (lstatSync(join(path, name), { throwIfNoEntry: false })?.size ?? 0), 0)
  if (names.has("manifest.json") && names.has("events.jsonl"))
    return { format: "orca-trace", path, bytes: bytes(), session }
  const isRaw = names.has("index.jsonl") ? isRawIndex(join(path, "index.jsonl")) : hasRawPair(names)
  return isRaw ? { format: "raw-bodies", path, bytes: bytes(), session } : undefined
}

function isRawIndex(path: string): boolean {
  const [first = ""] = headOf(path).split("\n")
  return /"(?:request_file|response_file)"/.test(first)
}

const hasRawPair = (names: ReadonlySet<string>): boolean => [...names].some((name) => name.endsWith(".request.json"))

const headOf = (path: string): string => readFileSync(path, "utf8").slice(0, 65_536)

/** The source, or why it is none. */
async function fileSource(path: string, bytes: number): Promise<Source | string> {
  if (LINES.test(path)) return linesSource(path, bytes)
  if (!DOCUMENT.test(path)) return "its name is that of no known format (.jsonl, .jsonl.zst, .json)"
  if (bytes > LARGEST_DOCUMENT) return "a JSON file this large is not read whole"
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"))
    return isAtif(value) ? { format: "atif", path, bytes, session: basename(path) } : "its JSON is no known format"
  } catch {
    return "it is not JSON"
  }
}

const LARGEST_DOCUMENT = 256 * 1024 * 1024
/** So many lines are looked at to tell what a file is. */
const LINES_LOOKED_AT = 50

async function linesSource(path: string, bytes: number): Promise<Source | string> {
  let seen = 0
  let format: SourceFormat | undefined
  let firstLine: string | undefined
  let firstAt: string | undefined
  let session: string | undefined
  try {
    for await (const { lines } of readLines(path)) {
      for (const line of lines) {
        if (!("value" in line)) continue
        const value = recordOf(line.value)
        seen++
        format ??= formatOf(value)
        if (typeof value["uuid"] === "string") firstLine ??= value["uuid"]
        if (typeof value["timestamp"] === "string") firstAt ??= value["timestamp"]
        if (value["type"] === "session_meta") {
          const { id } = recordOf(value["payload"])
          if (typeof id === "string") session ??= id
        }
        if (typeof value["sessionId"] === "string") session ??= value["sessionId"]
      }
      if (seen >= LINES_LOOKED_AT || (format !== undefined && firstAt !== undefined && firstLine !== undefined)) break
      if (format === "codex" && session !== undefined) break
    }
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    return error.what
  }
  if (format === undefined) return seen === 0 ? "no line of it is JSON" : "its lines are of no known format"
  const name = basename(path).replace(LINES, "")
  const agentId = /^agent-(.+)$/.exec(name)?.[1]
  const isAgents = format === "claude-code" && agentId !== undefined && basename(dirname(path)) === "subagents"
  const isOldAgent = format === "claude-code" && agentId !== undefined && !isAgents
  return {
    format,
    path,
    bytes,
    session: isAgents ? basename(dirname(dirname(path))) : isOldAgent || format === "codex" ? (session ?? name) : name,
    ...(isAgents || isOldAgent ? { agentId } : {}),
    ...(firstLine === undefined ? {} : { firstLine }),
    ...(firstAt === undefined ? {} : { firstAt }),
  }
}

function formatOf(line: Readonly<Record<string, unknown>>): SourceFormat | undefined {
  if (
    line["type"] === "session_meta" ||
    ("payload" in line && "timestamp" in line && CODEX_TYPES.has(String(line["type"])))
  )
    return "codex"
  if (line["type"] === "summary" && "leafUuid" in line) return "claude-code"
  const isMessage = CLAUDE_TYPES.has(String(line["type"])) && ("sessionId" in line || "uuid" in line)
  return isMessage ? "claude-code" : undefined
}

const CODEX_TYPES: ReadonlySet<string> = new Set(["response_item", "turn_context", "event_msg", "compacted"])
const CLAUDE_TYPES: ReadonlySet<string> = new Set(["user", "assistant", "system"])

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
