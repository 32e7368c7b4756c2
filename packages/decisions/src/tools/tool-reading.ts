import { type ActionType, asRecord, type LoosePayload, type ToolMeaning } from "@orangebox/contract"
import { parseJson } from "@orangebox/dialects"
import { holdsMask } from "../captured-text.js"
import type { MadeEdit } from "../edits/made-edit.js"
import { isEditText, readEdits } from "../edits/read-edits.js"
import { isMcpName, type KnownTool, knownTool, toolKey } from "./known-tools.js"

/** What a tool call says it does, before anything is read out of the commands in it. */
export interface ToolReading {
  readonly action: ActionType
  /** The application's own word: nothing read from the arguments changes it. */
  readonly isFixed: boolean
  readonly paths: readonly { readonly path: string; readonly access: "read" | "write" | "delete" }[]
  readonly command: { readonly text: string; readonly workingDirectory: string | null } | null
  readonly edits: readonly MadeEdit[]
  readonly urls: readonly string[]
  readonly title: string | null
  /** A mask stands where a path, a command or an address may have stood. */
  readonly isMasked: boolean
}

export interface ToolUse {
  readonly name: string
  /** Undefined when they are not kept. */
  readonly args: unknown
  readonly result: string | null
  /** The application's own word on what its tool does. */
  readonly meaning: ToolMeaning | undefined
}

/**
 * What a tool call does: by the configuration first, then by the tool's name where it is known, then by the shape of its arguments.
 * An unknown tool that shows nothing of what it does is `other`, never a guess.
 */
export function readToolUse({ name, args, result, meaning }: ToolUse): ToolReading {
  const inner = meaning === undefined ? innerCall(name, args) : undefined
  if (inner !== undefined) return readToolUse({ ...inner, result, meaning })
  const record = asRecord(args) ?? {}
  const known = knownTool(name)
  const command = commandOf(record, args, known, meaning)
  const given = givenPaths(record, meaning)
  const isEditor = meaning?.action === "edit" || known?.action === "edit" || looksLikeEdit(record)
  const isView = record["command"] === "view"
  const edits = isEditor && !isView ? readEdits(args, { path: given[0], result }) : []
  const access = isView ? "read" : (known?.access ?? accessOf(meaning, edits))
  const action = meaning?.action ?? (isView ? "other" : (known?.action ?? guessedAction(name, command !== null, edits)))
  return {
    action,
    isFixed: meaning?.action !== undefined,
    paths: pathsOf(given, edits, access, record, name),
    command: isEditor && meaning?.command === undefined ? null : command,
    edits,
    // An editor sends no messages, whatever text it is given.
    urls: known?.action === "edit" && meaning === undefined ? [] : urlsOf(record),
    title: typeof record["title"] === "string" ? record["title"] : null,
    isMasked: hidesUse(args, edits.length > 0),
  }
}

/** Cline calls every tool of every server through one of its own. */
function innerCall(name: string, args: unknown): Pick<ToolUse, "name" | "args"> | undefined {
  const record = asRecord(args)
  const tool = record?.["tool_name"]
  if (toolKey(name) !== "usemcptool" || typeof tool !== "string") return undefined
  const given = record?.["arguments"]
  return { name: `mcp__${tool}`, args: typeof given === "string" ? (parseJson(given) ?? given) : given }
}

/** Whether a mask took something of what the call does. In the old or new text of a file it took only that. */
function hidesUse(args: unknown, isEdit: boolean): boolean {
  if (typeof args === "string") return holdsMask(args)
  return Object.entries(asRecord(args) ?? {}).some(([key, value]) => {
    if (isEdit && (isEditText(key) || key === "edits")) return false
    return typeof value === "string" ? holdsMask(value) : typeof value === "object" && holdsMask(JSON.stringify(value))
  })
}

const COMMAND = ["command", "cmd", "script", "shell_command", "commandLine", "command_line", "CommandLine", "bash"]
/** Where the program stands alone under its name, its words stand here. */
const ARGUMENTS = ["args", "arguments", "argv"]
const DIRECTORY = ["workdir", "cwd", "working_directory", "workingDirectory", "directory", "dir_path", "Cwd"]
const PATH = (
  "file_path filePath path target_file notebook_path notebookPath absolute_path file filename file_name relative_path " +
  "relative_workspace_path TargetFile AbsolutePath source destination filepath FilePath old_path new_path oldPath newPath source_path " +
  "destination_path sourcePath destinationPath save_path savePath output_path outputPath output_file outputFile target_notebook " +
  "dirPath"
).split(" ")
const PATH_LISTS = ["paths", "file_paths", "filePaths"]

function commandOf(
  record: LoosePayload,
  args: unknown,
  known: KnownTool | undefined,
  meaning: ToolMeaning | undefined,
): ToolReading["command"] {
  const workingDirectory = stringAt(record, DIRECTORY) ?? null
  const named = meaning?.command === undefined ? undefined : shellText(record[meaning.command])
  if (named !== undefined) return { text: named, workingDirectory }
  if (known && !known.isShell) return null
  if (known?.isShell && typeof args === "string" && args !== "") return { text: args, workingDirectory }
  const action = asRecord(record["action"])
  const text = [...COMMAND.map((key) => shellText(record[key])), shellText(action?.["command"])].find(
    (found) => found !== undefined,
  )
  if (text === undefined) return null
  const words = ARGUMENTS.map((key) => record[key]).find(Array.isArray)
  return { text: [text, shellText(words) ?? []].flat().join(" "), workingDirectory }
}

/** A command as one text a shell would read: a list of words is quoted, so that reading it again gives the same words. */
function shellText(value: unknown): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value
  if (!Array.isArray(value) || value.length === 0 || !value.every((word) => typeof word === "string")) return undefined
  return value.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(" ")
}

function givenPaths(record: LoosePayload, meaning: ToolMeaning | undefined): string[] {
  const names = meaning?.path === undefined ? PATH : [meaning.path, ...PATH]
  const found = names.flatMap((name) => {
    const value = record[name]
    return typeof value === "string" && value !== "" ? [value] : []
  })
  for (const name of PATH_LISTS) {
    const value = record[name]
    if (Array.isArray(value)) found.push(...value.filter((path): path is string => typeof path === "string"))
  }
  return [...new Set(found)]
}

function pathsOf(
  given: readonly string[],
  edits: readonly MadeEdit[],
  access: "read" | "write" | "delete" | undefined,
  record: LoosePayload,
  name: string,
): ToolReading["paths"] {
  const touched = new Map<string, "read" | "write" | "delete">()
  if (access !== undefined) for (const path of given) if (!isUrl(path)) touched.set(path, access)
  for (const { path, access: how } of touchedBy(edits)) touched.set(path, how)
  // A move takes one file away and writes another.
  if (/move|rename/i.test(name) && typeof record["source"] === "string") touched.set(record["source"], "delete")
  return [...touched].map(([path, how]) => ({ path, access: how }))
}

/** A file that is moved is written in one place and gone from another. */
export function touchedBy<E extends Pick<MadeEdit, "path" | "kind" | "movedFrom">>(
  edits: readonly E[],
): { readonly path: string; readonly access: "write" | "delete"; readonly edit: E }[] {
  return edits.flatMap((edit) => [
    ...(edit.movedFrom === undefined ? [] : [{ path: edit.movedFrom, access: "delete" as const, edit }]),
    { path: edit.path, access: edit.kind === "delete" ? ("delete" as const) : ("write" as const), edit },
  ])
}

function accessOf(meaning: ToolMeaning | undefined, edits: readonly MadeEdit[]): "read" | "write" | undefined {
  if (meaning?.effect === "read" || meaning?.effect === "pure") return "read"
  if (meaning?.effect !== undefined || meaning?.action === "edit" || edits.length > 0) return "write"
  // A path in the hands of an unknown tool may have been written: saying it was only read would be a guess in its favour.
  return "write"
}

const looksLikeEdit = (record: LoosePayload): boolean =>
  ["old_string", "oldString", "old_str", "oldText"].some((name) => typeof record[name] === "string") ||
  [record["patch"], record["input"], record["diff"], record["patchText"]].some(
    (text) => typeof text === "string" && /^\*\*\* Begin Patch|^--- .*\n\+\+\+ /m.test(text.slice(0, 4096)),
  )

function guessedAction(name: string, hasCommand: boolean, edits: readonly MadeEdit[]): ActionType {
  if (edits.length > 0) return "edit"
  if (hasCommand) return "command"
  const words = name.toLowerCase()
  if (/pull_?request|merge_?request/.test(words) && /create|open/.test(words)) return "open_pr"
  if (/deploy|rollout|release_to/.test(words)) return "deploy"
  if (/(?:^|_)run_?tests?(?:$|_)/.test(words)) return "run_tests"
  if (/(?:^|_)(?:write|edit|create|update|save)_?(?:file|document)/.test(words)) return "edit"
  if (isMcpName(name) || /(?:^|_)(?:http|fetch|request|api|webhook)(?:$|_)/.test(words)) return "api_call"
  return "other"
}

function urlsOf(record: LoosePayload): string[] {
  const found: string[] = []
  for (const value of Object.values(record)) {
    if (typeof value === "string" && isUrl(value)) found.push(value.trim())
    else if (Array.isArray(value))
      found.push(...value.filter((item): item is string => typeof item === "string" && isUrl(item)))
  }
  return [...new Set(found)]
}

const isUrl = (text: string): boolean => /^\s*[a-z][a-z0-9+.-]*:\/\/\S+\s*$/i.test(text.slice(0, 4096))

function stringAt(record: LoosePayload, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = record[name]
    if (typeof value === "string" && value !== "") return value
  }
  return undefined
}
