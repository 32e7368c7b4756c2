import type { ChildProcess } from "node:child_process"
import { given, OrangeboxError } from "@orangebox/contract"
import type { Run, WrittenOutput } from "@orangebox/recorder"
import type { PipedStdout } from "./piped-stdout.js"

/**
 * Signals sent to us are meant for the command. What a terminal sends on a key goes to its whole foreground group, so the command has it
 * already and must not get it twice; those are only kept from ending us before the command has decided what to do.
 */
function passSignals(child: ChildProcess, hasTerminal: boolean = process.stdin.isTTY === true): () => void {
  const listeners = SIGNALS.map(({ signal, isKey }) => {
    const listener = (): void => {
      if (!(isKey && hasTerminal)) child.kill(signal)
    }
    process.on(signal, listener)
    return { signal, listener }
  })
  return () => {
    for (const { signal, listener } of listeners) process.off(signal, listener)
  }
}

const SIGNALS = [
  { signal: "SIGINT", isKey: true },
  { signal: "SIGQUIT", isKey: true },
  { signal: "SIGTERM", isKey: false },
  { signal: "SIGHUP", isKey: false },
  { signal: "SIGUSR2", isKey: false },
] as const

export interface EndedCommand {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** Why it could not be started. */
  readonly error?: Error
  /** What it wrote to its stdout, where that was read along to its end. */
  readonly stdout?: WrittenOutput | undefined
}

/** Waits for a command, which gets the signals that are meant for it, and for what it wrote. */
export async function endOfCommand(child: ChildProcess, piped?: PipedStdout): Promise<EndedCommand> {
  piped?.commandStarted()
  const letSignalsBe = passSignals(child)
  const ended = await new Promise<EndedCommand>((resolve) => {
    child.once("error", (error) => resolve({ exitCode: null, signal: null, error }))
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }))
  })
  const stdout = await piped?.commandEnded()
  letSignalsBe()
  return { ...ended, stdout }
}

/** Ends the run of a command as the command ended, whether it was recorded or replayed. */
export function endRunOf(
  run: Run,
  { exitCode, signal, stdout }: Pick<EndedCommand, "exitCode" | "stdout"> & { signal: string | null },
): void {
  const wrote = given({ stdout })
  if (signal !== null) run.fail(new CommandFailed(`killed by ${signal}`), { signal, ...wrote })
  else if (exitCode === 0) run.complete({ exitCode, ...wrote })
  else run.fail(new CommandFailed(`exit ${exitCode}`), { ...(exitCode === null ? {} : { exitCode }), ...wrote })
}

/** Names a command that did not end well. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed"
}

export const notStarted = (program: string, cause: Error): OrangeboxError =>
  new OrangeboxError("COMMAND", {
    what: `${program} cannot be started: ${cause.message}`,
    next: "Check its name and that it can be executed",
    cause,
  })
