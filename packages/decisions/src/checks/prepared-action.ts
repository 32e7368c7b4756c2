import type { Action, EvidencePointer, RanCommand } from "../action.js"
import { holdsMask, isNameKept } from "../captured-text.js"
import {
  type CommandEffects,
  classifyCommand,
  joinPaths,
  type PathUse,
  parseShell,
  type ShellReading,
  type SimpleCommand,
} from "../shell/index.js"
import { knownTool } from "../tools/known-tools.js"
import { EarlierActions } from "./earlier-actions.js"
import { type SecretFlow, secretFlow } from "./secrets/secret-flow.js"

/** One command of a command line with what it does. */
export interface PreparedCommand {
  readonly command: SimpleCommand
  readonly effects: CommandEffects
  readonly ran: RanCommand
}

/** A use of a path, wherever it was found: in a tool's arguments, in an edit, in a command. */
export interface TouchedPlace {
  /** As written, for the reader. */
  readonly text: string
  /** Every path it may be, from the root or absolute; undefined when it cannot be known. */
  readonly paths: readonly string[] | undefined
  readonly access: "read" | "write" | "delete"
  readonly isTree: boolean
  readonly isWild: boolean
  /** Touched only if a way that was opened is gone, or if the shell still stands where an earlier call left it. */
  readonly isPossible?: boolean
  readonly pointer: EvidencePointer
}

/** An action with its commands read, once for all rules. */
export interface PreparedAction {
  readonly action: Action
  readonly commands: readonly PreparedCommand[]
  readonly places: readonly TouchedPlace[]
  /** Why the commands do not tell all that they do; empty when they do. */
  readonly opaque: readonly string[]
  /** Why the text of the commands could not be read as a shell would. */
  readonly unreadable: readonly string[]
  /** Why the action itself does not tell what it touches or runs: a tool without a description, code that is no shell command. */
  readonly untold: string | undefined
  /** What its commands do with secrets, by command line. */
  readonly secrets: readonly CommandSecrets[]
}

export interface CommandSecrets extends SecretFlow {
  readonly ran: RanCommand
}

interface ReadCommandLine {
  readonly reading: ShellReading
  readonly effects: readonly CommandEffects[]
}

/** Agents repeat themselves: the same command line is read once. */
export type CommandMemory = Map<string, ReadCommandLine>
const MAX_REMEMBERED = 4096

/** @param earlier actions of the run it belongs to; left out, it is judged as if nothing had come before */
export function prepareAction(
  action: Action,
  memory: CommandMemory = new Map(),
  earlier: EarlierActions = new EarlierActions(),
): PreparedAction {
  const { folders } = earlier
  const secrets: CommandSecrets[] = []
  const commands: PreparedCommand[] = []
  const places: TouchedPlace[] = []
  const opaque = new Set<string>()
  const unreadable = new Set<string>()
  for (const { path, access, evidence } of action.paths) {
    places.push(namedPlace(path, access, evidence))
  }
  for (const { path, kind, evidence } of action.edits) {
    if (action.paths.some((touched) => touched.path === path && touched.access !== "read")) continue
    if (!isNameKept(path)) {
      unreadable.add("the path of a file that changed is not kept")
      continue
    }
    places.push(namedPlace(path, kind === "delete" ? "delete" : "write", evidence))
  }
  for (const ran of action.commands) {
    const { reading, effects } = readCommandLine(ran.text, memory)
    const elsewhere = ran.workingDirectory === null ? folders.elsewhere : []
    for (const problem of reading.problems) unreadable.add(problem.reason)
    reading.commands.forEach((command, index) => {
      const did = effects[index]!
      commands.push({ command, effects: did, ran })
      if (command.dynamic !== undefined) unreadable.add(`${command.program ?? "a command"}: ${command.dynamic}`)
      else if (did.opaque !== undefined && command.place !== "remote")
        opaque.add(`${did.program ?? "a command"}: ${did.opaque}`)
      if (command.place === "remote") return
      const kept = elsewhere.length === 0 ? undefined : inKeptShell(command, elsewhere)
      for (const [access, uses] of [
        ["read", did.reads],
        ["write", did.writes],
        ["delete", did.deletes],
      ] as const) {
        for (const use of uses) {
          places.push(placeOf(use, access, command, ran))
          if (kept !== undefined && access !== "read")
            places.push({ ...placeOf(use, access, kept, ran), isPossible: true })
        }
      }
      for (const use of did.linked) places.push({ ...placeOf(use, "write", command, ran), isPossible: true })
    })
    const here = commands.slice(commands.length - reading.commands.length)
    secrets.push({ ran, ...secretFlow(here, earlier.secrets) })
    if (ran.workingDirectory === null) folders.ran(reading)
  }
  const read = places.flatMap(({ access, paths, isTree }) => (access === "read" && !isTree ? (paths ?? []) : []))
  earlier.showed(action.tool?.resultText ?? null, read)
  return {
    action,
    commands,
    places,
    opaque: [...opaque],
    unreadable: [...unreadable],
    untold: whyUntold(action),
    secrets,
  }
}

/** The command as it would run where a shell that is kept between calls stands. */
function inKeptShell(command: SimpleCommand, folders: readonly string[]): SimpleCommand {
  return { ...command, cwds: command.cwds?.flatMap((cwd) => joinPaths(folders, cwd) ?? []) }
}

function whyUntold({ tool, type, paths, commands, edits, targets, unread }: Action): string | undefined {
  if (tool === null) return undefined
  if (unread.includes("args")) {
    return tool.argsText === null
      ? "what the tool was told is not kept"
      : "a part of what the tool was told was masked when it was recorded"
  }
  if (commands.length + paths.length + edits.length + targets.length > 0) return undefined
  if (type === "edit") return `which file ${tool.name} changes is not told`
  if (type === "command" || type === "run_tests") return `what ${tool.name} runs is no shell command`
  if ((type === "other" || type === "api_call") && tool.isDescribed !== true && knownTool(tool.name) === undefined) {
    return `what ${tool.name} does is not known (say it under tools in the configuration)`
  }
  return undefined
}

function readCommandLine(text: string, memory: CommandMemory): ReadCommandLine {
  const known = memory.get(text)
  if (known !== undefined) return known
  const reading = parseShell(text)
  const read = { reading, effects: reading.commands.map((command) => classifyCommand(command)) }
  if (memory.size < MAX_REMEMBERED) memory.set(text, read)
  return read
}

function namedPlace(path: string, access: TouchedPlace["access"], pointer: EvidencePointer): TouchedPlace {
  return { text: path, paths: holdsMask(path) ? undefined : [path], access, isTree: false, isWild: false, pointer }
}

function placeOf(use: PathUse, access: TouchedPlace["access"], command: SimpleCommand, ran: RanCommand): TouchedPlace {
  const { text, isKnown, hasGlob } = use.word
  // Folders of a container may be anything of the host's.
  const isTellable = isKnown && command.place === "here" && !holdsMask(text)
  return {
    text,
    paths: isTellable ? pathsFrom(text, command.cwds, ran.workingDirectory) : undefined,
    access,
    isTree: use.isTree,
    isWild: hasGlob,
    pointer: ran.evidence,
  }
}

function pathsFrom(
  path: string,
  cwds: readonly string[] | undefined,
  folder: string | null,
): readonly string[] | undefined {
  if (isAnchored(path)) return [path]
  if (cwds === undefined) return undefined
  return cwds.map((cwd) => join(isAnchored(cwd) ? "" : (folder ?? ""), join(cwd, path)))
}

const isAnchored = (path: string): boolean => /^(?:[/~]|[A-Za-z]:[\\/])/.test(path)
const join = (folder: string, path: string): string => (folder === "" ? path : `${folder.replace(/\/+$/, "")}/${path}`)
