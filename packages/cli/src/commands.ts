import type { Command } from "commander"
import type { Session } from "./session.js"

interface CommandEntry {
  readonly name: string
  /** Its line in the list of commands. */
  readonly summary: string
  /** What a person is about when they need it. */
  readonly group: string
  /** A command's module is loaded only when it is called: most of them need a store, and help does not. */
  readonly load: () => Promise<{ define(command: Command, session: Session): void }>
  readonly isHidden?: boolean
  /** Whether its argument is a run, for completion. */
  readonly takesRun?: boolean
}

type Group = "Record" | "Look" | "Judge" | "Try again" | "Hand on" | "Connect" | "Keep in order"
type Row = readonly [name: string, summary: string, load: CommandEntry["load"], takes?: "a run"]

/** In the order of a user's day. */
const GROUPS: Readonly<Record<Group, readonly Row[]>> = {
  Record: [
    ["demo", "see it work in seconds, without key or network", () => import("./commands/demo.js")],
    ["run", "run any agent and record its model calls", () => import("./commands/run.js")],
    ["proxy", "the recording proxy, standing alone", () => import("./commands/proxy.js")],
    ["doctor", "check the machine and fly a canary", () => import("./commands/doctor.js")],
  ],
  Look: [
    ["ui", "look at it in the browser", () => import("./commands/ui.js"), "a run"],
    ["runs", "list recorded runs", () => import("./commands/runs.js")],
    ["show", "a run, one line per step", () => import("./commands/show.js"), "a run"],
    ["step", "everything about one step, and its bodies", () => import("./commands/step.js"), "a run"],
    ["context", "what a step saw, why, and what was left out", () => import("./commands/context.js"), "a run"],
    ["cache", "what the provider's cache served, and what broke it", () => import("./commands/cache.js"), "a run"],
    ["diagnose", "what is broken, and the step that shows it", () => import("./commands/diagnose.js"), "a run"],
    ["handoff", "a run for a debugging agent, in 1,500 tokens", () => import("./commands/handoff.js"), "a run"],
    ["search", "search everything recorded", () => import("./commands/search.js")],
    ["diff", "compare two runs: what differs, and where it began", () => import("./commands/diff.js"), "a run"],
    ["stats", "what runs add up to: money, tokens, times, use", () => import("./commands/stats.js")],
    ["sql", "ask the store in SQL, read-only", () => import("./commands/sql.js")],
  ],
  Judge: [
    ["decisions", "what the agent did, action by action", () => import("./commands/decisions.js"), "a run"],
    ["check", "hold runs against rules; the gate for CI", () => import("./commands/check.js"), "a run"],
    ["slo", "hold daily sums against objectives", () => import("./commands/slo.js")],
    ["report", "what a run did, and was that what was asked", () => import("./commands/report.js"), "a run"],
    ["findings", "what was found out about a run, and adding to it", () => import("./commands/findings.js"), "a run"],
    ["override", "your own word about a run or a step", () => import("./commands/override.js"), "a run"],
  ],
  "Try again": [
    ["replay", "run a recorded run again, offline, and prove it", () => import("./commands/replay.js"), "a run"],
    ["keep", "keep a run as the fixture of a test", () => import("./commands/keep.js"), "a run"],
    ["fork", "run it again with something changed from one step on", () => import("./commands/fork.js"), "a run"],
  ],
  "Hand on": [
    ["export", "a run in one file that can be read anywhere", () => import("./commands/export.js"), "a run"],
    ["import", "transcripts and exported runs, into this store", () => import("./commands/import.js")],
    ["verify", "check runs, bodies and digests", () => import("./commands/verify.js"), "a run"],
    ["sign", "sign runs, so that later changes show", () => import("./commands/sign.js"), "a run"],
    [
      "snapshot",
      "store what a live run sees; list and write snapshots",
      () => import("./commands/snapshot.js"),
      "a run",
    ],
  ],
  Connect: [
    ["mcp", "serve what was recorded to an agent, over MCP", () => import("./commands/mcp.js")],
    ["serve", "the HTTP API, web UI and MCP, with a collector", () => import("./commands/serve.js")],
  ],
  "Keep in order": [
    ["collect", "bring the store up to the journals", () => import("./commands/collect.js")],
    ["backup", "copy everything, also while it is in use", () => import("./commands/backup.js")],
    ["restore", "lay a backup out as a data folder", () => import("./commands/restore.js")],
    ["redact", "mask secrets in text, and in what is stored", () => import("./commands/redact.js")],
    ["prune", "forget what is old or too much", () => import("./commands/prune.js")],
    ["store", "a ClickHouse for many machines: make it, copy into it", () => import("./commands/store.js")],
    ["hosts", "the machines that collect into this store", () => import("./commands/hosts.js")],
    ["trust", "let a repository's configuration take full effect", () => import("./commands/trust.js")],
    ["completion", "completion for bash, zsh and fish", () => import("./commands/completion.js")],
  ],
}

export const COMMANDS: readonly CommandEntry[] = [
  ...Object.entries(GROUPS).flatMap(([group, rows]) =>
    rows.map(([name, summary, load, takes]) => ({ name, summary, group, load, takesRun: takes !== undefined })),
  ),
  {
    name: "__complete",
    summary: "",
    group: "Keep in order",
    load: () => import("./commands/complete.js"),
    isHidden: true,
  },
]
