import { locateData } from "@orangebox/reader"
import { MCP_CLIENTS, serveMcpOverStdio } from "@orangebox/server"
import { safeJson, shellWord } from "@orangebox/text"
import { type Command, Option } from "commander"
import { debuggerSkill } from "../debugger-skill.js"
import { filesOf, installFor } from "../mcp/install.js"
import { startCommand } from "../mcp/start-command.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"
import { versionOf } from "../version.js"

interface McpOptions {
  readonly install?: string
  readonly print?: string
  readonly force?: boolean
  readonly allowFindings?: boolean
}

export function define(command: Command, session: Session): void {
  const clients = Object.keys(MCP_CLIENTS)
  command
    .description("Serve what was recorded to an agent over the Model Context Protocol, on stdin and stdout.")
    .option("--allow-findings", "let the agent keep reports of what it found beside a run; all else only reads")
    .addOption(
      new Option("--install <client>", "write that client's configuration and skill into the project here").choices(
        clients,
      ),
    )
    .addOption(new Option("--print <client>", "print what --install would write, and write nothing").choices(clients))
    .option("--force", "with --install: replace what is there and was changed")
    .addHelpText(
      "after",
      prose(
        session,
        "Its tools are the commands that look: they change nothing, and keep to a token budget. The skill tells an agent how to find the cause of a failure and to report it: find, don't fix.",
      ),
    )
  bindShell<McpOptions>(command, session, mcp, [
    ["orangebox mcp", "for a client that starts it: docs/mcp.md"],
    ["orangebox mcp --install claude", "writes .mcp.json and .claude/skills/orangebox-debugger"],
    ["orangebox mcp --print codex", "what would be written for Codex"],
  ])
}

async function mcp(session: Session, options: McpOptions & GlobalOptions): Promise<undefined> {
  const { install, print, force = false, allowFindings = false } = options
  if (install !== undefined && print !== undefined)
    throw wrongUsage("--install writes and --print does not", "Choose one")
  if (force && install === undefined) throw wrongUsage("--force is about the files of --install", "Leave it out")
  if (install !== undefined || print !== undefined) {
    tellClient(session, options, install ?? print ?? "")
    return undefined
  }
  if (options.json)
    throw wrongUsage("--json is about --install and --print: the protocol is JSON already", "Leave it out")
  // A folder that is named has to be there; one that is looked for may come with the first recording.
  if (options.data !== undefined) locateData(options.data)
  if (process.stdin.isTTY) session.terminal.say("orangebox: this waits for a client on stdin; Ctrl-D ends it")
  const hasSpoken = await serveMcpOverStdio({
    ...{ data: options.data, version: versionOf(), skill: debuggerSkill(), allowsFindings: allowFindings },
  })
  if (!hasSpoken && !process.stdin.isTTY)
    session.terminal.say(
      "orangebox: stdin was closed before a client spoke, so nothing was served; clients start this themselves: orangebox mcp --install claude",
    )
  return undefined
}

function tellClient({ terminal }: Session, options: McpOptions & GlobalOptions, name: string): void {
  const client = MCP_CLIENTS[name]!
  const command = [
    ...startCommand("."),
    ...(options.allowFindings ? ["--allow-findings"] : []),
    ...(options.data === undefined ? [] : ["--data", options.data]),
  ]
  if (options.print !== undefined) {
    const files = filesOf(client, ".", command, true).map(({ path, text }) => ({ path, text: text ?? null }))
    const parts = files.map(({ path, text }) => `# ${path}\n${text ?? "(is there already)\n"}`)
    terminal.outVerbatim(options.json ? safeJson({ client: name, files }, 2) : parts.join("\n"))
    return
  }
  const files = installFor(client, ".", command, options.force ?? false)
  const lines = files.map(({ path, outcome }) => `${outcome}  ${path}`)
  terminal.out(
    options.json
      ? safeJson({ client: name, files }, 2)
      : [...lines, `${client.name} starts it in this project with: ${command.map(shellWord).join(" ")}`].join("\n"),
  )
}
