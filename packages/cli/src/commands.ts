import type { Command } from "commander"
import type { Session } from "./session.js"

export interface CommandEntry {
  readonly name: string
  /** Its line in the list of commands. */
  readonly summary: string
  /** A command's module is loaded only when it is called: most of them need a store, and help does not. */
  readonly load: () => Promise<{ define(command: Command, session: Session): void }>
  readonly isHidden?: boolean
  /** Whether its argument is a run, for completion. */
  readonly takesRun?: boolean
}

/** In the order in which a newcomer meets them. */
export const COMMANDS: readonly CommandEntry[] = [
  { name: "demo", summary: "see it work in seconds, without key or network", load: () => import("./commands/demo.js") },
  { name: "run", summary: "run any agent and record its model calls", load: () => import("./commands/run.js") },
  { name: "proxy", summary: "the recording proxy, standing alone", load: () => import("./commands/proxy.js") },
  { name: "runs", summary: "list recorded runs", load: () => import("./commands/runs.js") },
  { name: "show", summary: "a run, one line per step", load: () => import("./commands/show.js"), takesRun: true },
  {
    name: "step",
    summary: "everything about one step, and its bodies",
    load: () => import("./commands/step.js"),
    takesRun: true,
  },
  {
    name: "context",
    summary: "what a step saw, why, and what was left out",
    load: () => import("./commands/context.js"),
    takesRun: true,
  },
  {
    name: "snapshot",
    summary: "store what a live run sees; list and write snapshots",
    load: () => import("./commands/snapshot.js"),
    takesRun: true,
  },
  {
    name: "diff",
    summary: "compare two runs: what differs, and where it began",
    load: () => import("./commands/diff.js"),
    takesRun: true,
  },
  {
    name: "decisions",
    summary: "what the agent did, action by action",
    load: () => import("./commands/decisions.js"),
    takesRun: true,
  },
  {
    name: "check",
    summary: "hold runs against rules; the gate for CI",
    load: () => import("./commands/check.js"),
    takesRun: true,
  },
  {
    name: "report",
    summary: "what a run did, and was that what was asked",
    load: () => import("./commands/report.js"),
    takesRun: true,
  },
  {
    name: "override",
    summary: "your own word about a run or a step",
    load: () => import("./commands/override.js"),
    takesRun: true,
  },
  {
    name: "replay",
    summary: "run a recorded run again, offline, and prove it",
    load: () => import("./commands/replay.js"),
    takesRun: true,
  },
  {
    name: "fork",
    summary: "run it again with something changed from one step on",
    load: () => import("./commands/fork.js"),
    takesRun: true,
  },
  { name: "search", summary: "search everything recorded", load: () => import("./commands/search.js") },
  { name: "sql", summary: "ask the store in SQL, read-only", load: () => import("./commands/sql.js") },
  {
    name: "verify",
    summary: "check runs, bodies and digests",
    load: () => import("./commands/verify.js"),
    takesRun: true,
  },
  {
    name: "export",
    summary: "a run in one file that can be read anywhere",
    load: () => import("./commands/export.js"),
    takesRun: true,
  },
  { name: "collect", summary: "bring the store up to the journals", load: () => import("./commands/collect.js") },
  {
    name: "redact",
    summary: "mask secrets in text, and in what is stored",
    load: () => import("./commands/redact.js"),
  },
  { name: "prune", summary: "forget what is old or too much", load: () => import("./commands/prune.js") },
  {
    name: "trust",
    summary: "let a repository's configuration take full effect",
    load: () => import("./commands/trust.js"),
  },
  { name: "doctor", summary: "check the machine and fly a canary", load: () => import("./commands/doctor.js") },
  { name: "completion", summary: "completion for bash, zsh and fish", load: () => import("./commands/completion.js") },
  { name: "__complete", summary: "", load: () => import("./commands/complete.js"), isHidden: true },
]
