// The proxy

// A command recorded from outside
export { type ExtraVariable, type PlannedVariable, planVariables, type VariablePlan } from "./client-variables.js"
export type { ProxyLimits } from "./limits.js"
export { type ProxyOptions, type RecordingProxy, startProxy } from "./proxy.js"
export type { ProxyStats } from "./proxy-stats.js"
export {
  type CommandVerdict,
  type RecordCommandOptions,
  recordCommand,
  type StartedCommand,
} from "./record-command.js"
export { type ReplayCommandOptions, type ReplayedCommand, replayCommand } from "./replay-command.js"
export type { UpstreamTls } from "./upstream-agents.js"

// The work tree of a recorded run
export {
  copyIgnored,
  findRepository,
  ignoredIn,
  openWorkspaceCopy,
  type WorkspaceCopy,
} from "./workspace/copy-workspace.js"
