import { InputError } from "@orangebox/contract"

/** A client that can start the server, by the files of a project that it reads. Their own documents say so, as of November 2026. */
export interface McpClient {
  readonly name: string
  /** What is written for it, from the project's folder. */
  readonly file: string
  /** Where it reads skills from; undefined where it has none. */
  readonly skills: string | undefined
  /** The file with our server in it, or undefined where it is there already as it should be. Refuses what it cannot read or would change. */
  edit(before: string | undefined, command: readonly string[], isForced: boolean): string | undefined
}

const NAME = "orangebox"

export const MCP_CLIENTS: Readonly<Record<string, McpClient>> = {
  claude: jsonClient("Claude Code", ".mcp.json", "mcpServers", ".claude/skills"),
  codex: { name: "Codex", file: ".codex/config.toml", skills: ".agents/skills", edit: editToml },
  gemini: jsonClient("Gemini CLI", ".gemini/settings.json", "mcpServers", ".gemini/skills"),
  opencode: jsonClient("opencode", "opencode.json", "mcp", ".opencode/skills", (command) => ({
    ...{ type: "local", command, enabled: true },
  })),
  cursor: jsonClient("Cursor", ".cursor/mcp.json", "mcpServers", undefined),
  vscode: jsonClient("VS Code", ".vscode/mcp.json", "servers", undefined),
}

function started([command = "", ...args]: readonly string[]): object {
  return { command, args }
}

/** For a client whose servers are members of one object in a JSON file. */
function jsonClient(
  name: string,
  file: string,
  member: string,
  skills: string | undefined,
  entryOf: (command: readonly string[]) => object = started,
): McpClient {
  return {
    ...{ name, file, skills },
    edit(before, command, isForced) {
      const entry = entryOf(command)
      const config =
        before === undefined || before.trim() === "" ? {} : objectIn(before, file, { [member]: { [NAME]: entry } })
      const servers = config[member] ?? {}
      if (!isObject(servers)) throw unreadable(file, `${member} is no object`, { [member]: { [NAME]: entry } })
      const there = servers[NAME]
      if (JSON.stringify(there) === JSON.stringify(entry)) return undefined
      if (there !== undefined && !isForced) throw changed(file)
      const indent = /^\{\r?\n([ \t]+)"/.exec(before ?? "")?.[1] ?? "  "
      return `${JSON.stringify({ ...config, [member]: { ...servers, [NAME]: entry } }, null, indent)}\n`
    },
  }
}

function editToml(before: string | undefined, command: readonly string[], isForced: boolean): string | undefined {
  const [program = "", ...args] = command
  const table = `[mcp_servers.${NAME}]\ncommand = ${JSON.stringify(program)}\nargs = ${JSON.stringify(args)}\n`
  const text = before ?? ""
  if (text.includes(table)) return undefined
  // A table ends where the next one begins. Only one that is written the way we write it is replaced.
  const own = /^\[mcp_servers\.orangebox\]\n(?:(?!\[).*(?:\n|$))*/m
  if (/mcp_servers\s*\.\s*"?orangebox"?/.test(text)) {
    if (!isForced || !own.test(text)) throw changed(".codex/config.toml")
    return text.replace(own, () => table)
  }
  return `${text}${text === "" || text.endsWith("\n\n") ? "" : text.endsWith("\n") ? "\n" : "\n\n"}${table}`
}

function objectIn(text: string, file: string, example: object): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw unreadable(file, "it is not plain JSON: it may have comments, which would be lost", example)
  }
  if (isObject(value)) return value
  throw unreadable(file, "it is no object", example)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const unreadable = (file: string, why: string, example: object): InputError =>
  new InputError("CLIENT_CONFIG", {
    what: `the configuration is left as it is: ${why}`,
    where: file,
    next: `Add this to it by hand: ${JSON.stringify(example)}`,
  })

const changed = (file: string): InputError =>
  new InputError("CLIENT_CONFIG", {
    what: "there is a server called orangebox already, and it is started in another way",
    where: file,
    next: "Look at it; to replace it, add --force",
  })
