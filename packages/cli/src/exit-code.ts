/** What a command's exit code says. `docs/cli.md` promises it. */
export const EXIT = {
  fine: 0,
  /** The command did its work and found something: a problem, a digest that differs, a check that failed. */
  findings: 1,
  /** The command line, or what it points at, is wrong. */
  badInput: 2,
  /** The machine, the installation or the stored data stands in the way, or we have a bug. */
  systemError: 3,
  /** Ctrl-C, as shells count it. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]
