import { readFileSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { InputError } from "@orangebox/contract"
import { ForeignWriter, type Recorder } from "@orangebox/recorder"
import { readAtif } from "../formats/atif.js"
import { ClaudeCodeSession, type StartedBy, type SubAgent } from "../formats/claude-code.js"
import { CodexSession, itemDigest } from "../formats/codex.js"
import type { FormatProblem, SessionPlaces, SessionReader } from "../formats/session-file.js"
import { type Json, recordOf, wordOf } from "../formats/told-values.js"
import type { Source } from "./find-sources.js"
import { importOrcaTrace } from "./import-orca-trace.js"
import { importRawBodies } from "./import-raw-bodies.js"
import { readLines } from "./read-lines.js"
import { type LookUpRun, RunIntake, type RunTaken } from "./run-intake.js"

export interface ImportPlaces {
  /** Undefined: nothing is written (`--dry-run`). */
  readonly recorder: Recorder | undefined
  readonly lookUp: LookUpRun
  /** Brings the store up to the journal, so that the journal stays small. May take its time while more is written. */
  readonly collect?: () => Promise<void>
  readonly nowMs: number
  readonly onProgress?: (done: number, total: number | undefined, what: string) => void
}

export interface ImportProblem extends FormatProblem {
  readonly path: string
}

export interface ImportedSources {
  readonly runs: readonly RunTaken[]
  readonly events: number
  readonly modelCalls: number
  readonly toolCalls: number
  /** Of the calls that were added; null where none of them says. */
  readonly tokens: number
  readonly bytes: number
  readonly problems: readonly ImportProblem[]
  /** Problems beyond those listed. */
  readonly moreProblems: number
}

/** So much new content is worth a look of the collector. */
const COLLECT_BYTES = 16 * 1024 * 1024
/** So much may wait in the journal: then the import waits for the collector. */
const MOST_WAITING = 64 * 1024 * 1024
const MOST_PROBLEMS = 100

/**
 * Reads the records of other programs into the journal, each event once. Sessions of one project are read in the order in which they began:
 * a copy of a session comes after its original, a sub-agent after the session that started it.
 */
export async function importSources(sources: readonly Source[], places: ImportPlaces): Promise<ImportedSources> {
  const work = new ImportWork(sources, places)
  for (const group of groupsOf(sources)) await work.group(group)
  return work.finish()
}

class ImportWork {
  readonly #places: ImportPlaces
  readonly #intake: RunIntake
  readonly #problems: ImportProblem[] = []
  readonly #total: number
  readonly #sources: readonly Source[]
  #moreProblems = 0
  #doneBytes = 0
  /** First run of each Codex session. */
  readonly #codexRuns = new Map<string, string>()

  constructor(sources: readonly Source[], places: ImportPlaces) {
    this.#places = places
    this.#sources = sources
    this.#intake = new RunIntake(places.recorder && ForeignWriter.open(places.recorder), places.lookUp)
    this.#total = sources.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  async group(group: readonly Source[]): Promise<void> {
    const [first] = group
    switch (first?.format) {
      case "claude-code":
        return this.#claudeProject(group)
      case "codex":
        for (const source of group) await this.#codex(source)
        return
      default:
        for (const source of group) await this.#whole(source)
    }
  }

  async finish(): Promise<ImportedSources> {
    await this.#intake.flush()
    await this.#collecting
    const { events, modelCalls, toolCalls, tokens } = this.#intake.counts
    return {
      runs: this.#intake.taken,
      ...{ events, modelCalls, toolCalls, tokens },
      bytes: this.#total,
      problems: this.#problems,
      moreProblems: this.#moreProblems,
    }
  }

  /** All transcripts of one project: originals before their copies, sessions before their sub-agents. */
  async #claudeProject(group: readonly Source[]): Promise<void> {
    const agents = new Map<string, StartedBy>()
    const tasks = new Map<string, StartedBy>()
    const counts = new Map<string, number>()
    for (const { firstLine = "" } of group) counts.set(firstLine, (counts.get(firstLine) ?? 0) + 1)
    const families = new Map<string, Map<string, string>>()
    const sessions = group.filter(({ agentId }) => agentId === undefined)
    const ofAgents = group.filter(({ agentId }) => agentId !== undefined)
    for (const source of [...sessions, ...ofAgents]) {
      const { firstLine = "", session, agentId, path } = source
      // Only files that begin alike can be copies of each other, so only of those every line is remembered.
      const lines = (counts.get(firstLine) ?? 0) > 1 && firstLine !== "" ? familyOf(families, firstLine) : undefined
      const own = new Set<string>()
      await this.#lines(
        source,
        (endedAfter) =>
          new ClaudeCodeSession({
            session,
            endedAfter,
            ...(agentId === undefined ? {} : { agent: subAgent(agentId, path, agents, tasks) }),
            emit: this.#intake.emit,
            problem: (problem) => this.#say(path, problem),
            learnAgent: (id, by) => agents.set(id, { ...agents.get(id), ...by }),
            learnTask: (id, by) => tasks.set(id, by),
            ...(lines === undefined
              ? {}
              : {
                  knownLine: (uuid) => (own.has(uuid) ? undefined : lines.get(uuid)),
                  learnLine: (uuid, runId) => {
                    own.add(uuid)
                    lines.set(uuid, runId)
                  },
                }),
          }),
      )
    }
  }

  async #codex(source: Source): Promise<void> {
    const { session, path } = source
    const forkedFrom = await this.#itemsForkedFrom(source)
    await this.#lines(
      source,
      (endedAfter) =>
        new CodexSession({
          session,
          endedAfter,
          emit: (event) => {
            if (!this.#codexRuns.has(session)) this.#codexRuns.set(session, event.run.runId)
            this.#intake.emit(event)
          },
          problem: (problem) => this.#say(path, problem),
          itemsOf: () => forkedFrom,
          runOf: (other) => this.#codexRuns.get(other),
        }),
    )
  }

  /** A fork repeats the items of the session it comes from, whose file is read for them. */
  async #itemsForkedFrom(source: Source): Promise<string[] | undefined> {
    let from: unknown
    for await (const { lines } of readLines(source.path)) {
      const [first] = lines
      from = first && "value" in first ? recordOf(recordOf(first.value)["payload"])["forked_from_id"] : undefined
      break
    }
    const original = this.#sources.find(({ format, session }) => format === "codex" && session === from)
    if (original === undefined) return undefined
    const items: string[] = []
    for await (const { lines } of readLines(original.path)) {
      for (const line of lines) {
        if ("value" in line && recordOf(line.value)["type"] === "response_item")
          items.push(itemDigest(recordOf(recordOf(line.value)["payload"])))
      }
    }
    return items
  }

  /** Reads a record; once more where it goes on behind an end that was deduced when less of it was there. */
  async #lines(
    source: Source,
    readerFor: (endedAfter: SessionPlaces["endedAfter"] & {}) => SessionReader,
  ): Promise<void> {
    await this.#readLines(
      source,
      readerFor(() => undefined),
    )
    const cutShort = this.#intake.takeCutShort()
    if (cutShort.size > 0)
      await this.#readLines(
        source,
        readerFor((runId) => cutShort.get(runId)),
      )
    this.#doneBytes += source.bytes
    await this.#settle(this.#doneBytes)
  }

  async #readLines({ path }: Source, reader: SessionReader): Promise<void> {
    try {
      for await (const { lines, bytesRead } of readLines(path)) {
        for (const line of lines) {
          if ("value" in line) this.#take(reader, line.value, line.lineNo, path)
          else this.#say(path, { line: line.lineNo, reason: line.problem })
        }
        await this.#settle(this.#doneBytes + bytesRead)
      }
      reader.finish(this.#places.nowMs)
    } catch (error) {
      if (!(error instanceof InputError)) throw error
      this.#say(path, { line: undefined, reason: error.what })
    }
    await this.#intake.flush()
  }

  /** A line that no rule foresaw costs that line, and no other. */
  #take(reader: SessionReader, value: unknown, lineNo: number, path: string): void {
    try {
      reader.take(value, lineNo)
    } catch (error) {
      this.#say(path, {
        line: lineNo,
        reason: `the line cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      })
    }
  }

  async #whole(source: Source): Promise<void> {
    const { path, session } = source
    const into = {
      session,
      emit: this.#intake.emit,
      problem: (problem: FormatProblem) => this.#say(path, problem),
    }
    if (source.format === "atif") readAtif(JSON.parse(readFileSync(path, "utf8")), into)
    else if (source.format === "orca-trace") await importOrcaTrace(path, into)
    else await importRawBodies(path, into)
    this.#doneBytes += source.bytes
    await this.#settle(this.#doneBytes)
  }

  async #settle(doneBytes: number): Promise<void> {
    await this.#intake.flush()
    this.#places.onProgress?.(Math.min(doneBytes, this.#total), this.#total, "importing")
    this.#waitingBytes += this.#intake.takeBytes()
    if (this.#waitingBytes >= COLLECT_BYTES) this.#collect()
    if (this.#waitingBytes >= MOST_WAITING) await this.#collecting
  }
  #waitingBytes = 0
  #collecting: Promise<void> | undefined

  /** One after the other, beside the reading. */
  #collect(): void {
    const { recorder, collect } = this.#places
    if (recorder === undefined || collect === undefined || this.#collecting !== undefined) return
    this.#waitingBytes = 0
    const isDone = (): void => {
      this.#collecting = undefined
    }
    this.#collecting = collect().then(isDone, isDone)
  }

  #say(path: string, problem: FormatProblem): void {
    if (this.#problems.length < MOST_PROBLEMS) this.#problems.push({ path, ...problem })
    else this.#moreProblems++
  }
}

/** Newer versions say beside a sub-agent's transcript what sort of agent it is and which call started it. */
function subAgent(
  id: string,
  path: string,
  agents: ReadonlyMap<string, StartedBy>,
  tasks: ReadonlyMap<string, StartedBy>,
): SubAgent {
  const about = readJson(path.replace(/\.jsonl$/, ".meta.json"))
  const startedBy = tasks.get(String(about["toolUseId"])) ?? agents.get(id)
  return { id, type: wordOf(about["agentType"]), startedBy }
}

function readJson(path: string): Json {
  try {
    return recordOf(JSON.parse(readFileSync(path, "utf8")))
  } catch {
    return {}
  }
}

function familyOf(families: Map<string, Map<string, string>>, firstLine: string): Map<string, string> {
  const known = families.get(firstLine) ?? new Map<string, string>()
  families.set(firstLine, known)
  return known
}

/** Transcripts of one project stand together; everything else stands alone, in the order of its beginning. */
function groupsOf(sources: readonly Source[]): Source[][] {
  const groups = new Map<string, Source[]>()
  for (const source of [...sources].sort(byBeginning)) {
    const key = source.format === "claude-code" ? `claude\0${projectOf(source)}` : source.format
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [source])
    else group.push(source)
  }
  return [...groups.values()]
}

const projectOf = ({ path, agentId }: Source): string =>
  agentId !== undefined && /[\\/]subagents[\\/]/.test(path) ? dirname(dirname(dirname(path))) : dirname(path)

function byBeginning(a: Source, b: Source): number {
  const [timeA, timeB] = [a.firstAt ?? "", b.firstAt ?? ""]
  if (timeA !== timeB) return timeA < timeB ? -1 : 1
  // Of two copies of one session the longer one says all that the other does.
  if (a.session === b.session && a.bytes !== b.bytes) return b.bytes - a.bytes
  // Of files that begin alike the original stopped first: its copy was made to go on.
  const [modifiedA, modifiedB] = [mtimeOf(a.path), mtimeOf(b.path)]
  return a.format === "claude-code" && modifiedA !== modifiedB ? modifiedA - modifiedB : a.path < b.path ? -1 : 1
}

const mtimeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
