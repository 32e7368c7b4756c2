// The proxy

// A command recorded from outside
export { type ExtraVariable, planVariables, type VariablePlan, variablesFor } from "./client-variables.js"
export type { ProxyLimits } from "./limits.js"
export { type ProxyOptions, type RecordingProxy, startProxy } from "./proxy.js"
export { type CommandVerdict, recordCommand, type StartedCommand } from "./record-command.js"
export { replayCommand } from "./replay-command.js"

// The work tree of a recorded run
export {
  copyIgnored,
  findRepository,
  ignoredIn,
  openWorkspaceCopy,
  type WorkspaceCopy,
} from "./workspace/copy-workspace.js"
