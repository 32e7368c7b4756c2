// The command is the door; this is for programs that embed it.
export { runCommandLine } from "./command-line.js"
export { EXIT, type ExitCode } from "./exit-code.js"
