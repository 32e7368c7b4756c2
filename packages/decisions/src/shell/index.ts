export { classifyCommand } from "./classify-command.js"
export type { CommandRole, Place, Redirection, ShellProblem, ShellReading, SimpleCommand, Word } from "./command.js"
export type { CommandEffects, CommandKind, PathUse } from "./effects/effects.js"
export { MAX_SHELL_TEXT, parseShell } from "./parse-shell.js"
