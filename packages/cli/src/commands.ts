import type { Command } from "commander"
import type { Session } from "./session.js"

export interface CommandEntry {
  readonly name: string
  /** Its line in the list of commands. */
  readonly summary: string
  /** What a person is about when they need it. */
  readonly group: CommandGroup
  /** A command's module is loaded only when it is called: most of them need a store, and help does not. */
  readonly load: () => Promise<{ define(command: Command, session: Session): void }>
  readonly isHidden?: boolean
  /** Whether its argument is a run, for completion. */
  readonly takesRun?: boolean
}

export type CommandGroup = "Record" | "Look" | "Judge" | "Try again" | "Hand on" | "Keep in order"

/** In the order of a user's day: record, look, judge, try again, hand on, keep in order. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "demo",
    group: "Record",
    summary: "see it work in seconds, without key or network",
    load: () => import("./commands/demo.js"),
  },
  {
    name: "run",
    group: "Record",
    summary: "run any agent and record its model calls",
    load: () => import("./commands/run.js"),
  },
  {
    name: "proxy",
    group: "Record",
    summary: "the recording proxy, standing alone",
    load: () => import("./commands/proxy.js"),
  },
  {
    name: "doctor",
    group: "Record",
    summary: "check the machine and fly a canary",
    load: () => import("./commands/doctor.js"),
  },
  { name: "runs", group: "Look", summary: "list recorded runs", load: () => import("./commands/runs.js") },
  {
    name: "show",
    group: "Look",
    summary: "a run, one line per step",
    load: () => import("./commands/show.js"),
    takesRun: true,
  },
  {
    name: "step",
    group: "Look",
    summary: "everything about one step, and its bodies",
    load: () => import("./commands/step.js"),
    takesRun: true,
  },
  {
    name: "context",
    group: "Look",
    summary: "what a step saw, why, and what was left out",
    load: () => import("./commands/context.js"),
    takesRun: true,
  },
  { name: "search", group: "Look", summary: "search everything recorded", load: () => import("./commands/search.js") },
  {
    name: "diff",
    group: "Look",
    summary: "compare two runs: what differs, and where it began",
    load: () => import("./commands/diff.js"),
    takesRun: true,
  },
  { name: "sql", group: "Look", summary: "ask the store in SQL, read-only", load: () => import("./commands/sql.js") },
  {
    name: "decisions",
    group: "Judge",
    summary: "what the agent did, action by action",
    load: () => import("./commands/decisions.js"),
    takesRun: true,
  },
  {
    name: "check",
    group: "Judge",
    summary: "hold runs against rules; the gate for CI",
    load: () => import("./commands/check.js"),
    takesRun: true,
  },
  {
    name: "report",
    group: "Judge",
    summary: "what a run did, and was that what was asked",
    load: () => import("./commands/report.js"),
    takesRun: true,
  },
  {
    name: "override",
    group: "Judge",
    summary: "your own word about a run or a step",
    load: () => import("./commands/override.js"),
    takesRun: true,
  },
  {
    name: "replay",
    group: "Try again",
    summary: "run a recorded run again, offline, and prove it",
    load: () => import("./commands/replay.js"),
    takesRun: true,
  },
  {
    name: "fork",
    group: "Try again",
    summary: "run it again with something changed from one step on",
    load: () => import("./commands/fork.js"),
    takesRun: true,
  },
  {
    name: "export",
    group: "Hand on",
    summary: "a run in one file that can be read anywhere",
    load: () => import("./commands/export.js"),
    takesRun: true,
  },
  {
    name: "verify",
    group: "Hand on",
    summary: "check runs, bodies and digests",
    load: () => import("./commands/verify.js"),
    takesRun: true,
  },
  {
    name: "snapshot",
    group: "Hand on",
    summary: "store what a live run sees; list and write snapshots",
    load: () => import("./commands/snapshot.js"),
    takesRun: true,
  },
  {
    name: "collect",
    group: "Keep in order",
    summary: "bring the store up to the journals",
    load: () => import("./commands/collect.js"),
  },
  {
    name: "redact",
    group: "Keep in order",
    summary: "mask secrets in text, and in what is stored",
    load: () => import("./commands/redact.js"),
  },
  {
    name: "prune",
    group: "Keep in order",
    summary: "forget what is old or too much",
    load: () => import("./commands/prune.js"),
  },
  {
    name: "trust",
    group: "Keep in order",
    summary: "let a repository's configuration take full effect",
    load: () => import("./commands/trust.js"),
  },
  {
    name: "completion",
    group: "Keep in order",
    summary: "completion for bash, zsh and fish",
    load: () => import("./commands/completion.js"),
  },
  {
    name: "__complete",
    group: "Keep in order",
    summary: "",
    load: () => import("./commands/complete.js"),
    isHidden: true,
  },
]
