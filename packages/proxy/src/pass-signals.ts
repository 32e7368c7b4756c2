import type { ChildProcess } from "node:child_process"

/**
 * Signals sent to us are meant for the command. What a terminal sends on a key goes to its whole foreground group, so the command has it
 * already and must not get it twice; those are only kept from ending us before the command has decided what to do.
 */
export function passSignals(child: ChildProcess, hasTerminal: boolean = process.stdin.isTTY === true): () => void {
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
