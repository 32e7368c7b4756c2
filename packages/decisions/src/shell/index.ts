export { classifyCommand } from "./classify-command.js"
export type {
  CommandRole,
  CommandSpan,
  ExitTells,
  Place,
  Redirection,
  ShellProblem,
  ShellReading,
  SimpleCommand,
  Word,
} from "./command.js"
export type { CommandEffects, CommandKind, PathUse } from "./effects/effects.js"
export { isLocalHost } from "./effects/hosts.js"
export { parseShell } from "./parse-shell.js"
export { joinPaths } from "./scope.js"
