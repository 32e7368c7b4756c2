/** One word of a command after quoting and expansion. */
export interface Word {
  /** The value; parts that the text alone does not tell stand as they were written (`$HOST`, `$(date)`). */
  readonly text: string
  /** Whether the whole value is known. */
  readonly isKnown: boolean
  /** Whether the shell would match the word against file names. */
  readonly hasGlob: boolean
}

export type RedirectOperator = "<" | ">" | ">>" | ">|" | "<>" | "&>" | "&>>" | ">&" | "<&" | "<<" | "<<-" | "<<<"

export interface Redirection {
  readonly operator: RedirectOperator
  readonly target: Word
  /** The text of a here-document. */
  readonly body?: Word
}

/** Where a command runs: on this machine, inside a container, or on another machine. */
export type Place = "here" | "container" | "remote"

/**
 * - `command`   what the text runs
 * - `wrapper`   runs another command of the same reading and nothing else (`timeout 5`, `env`, `sh -c`)
 * - `carrier`   runs another command of the same reading elsewhere or as someone else (`sudo`, `ssh`, `docker exec`)
 * - `function`  names a function of the same text, whose commands are in the reading too
 */
export type CommandRole = "command" | "wrapper" | "carrier" | "function"

export interface SimpleCommand {
  /** Base name of the program: `rm` for `/bin/rm`, `\rm` and `'r'm`. Empty for a mere redirection, undefined when only running would tell. */
  readonly program: string | undefined
  /** The words, the program first. */
  readonly words: readonly Word[]
  readonly environment: readonly { readonly name: string; readonly value: Word }[]
  readonly redirections: readonly Redirection[]
  /**
   * Folders it may run in, relative to where the text starts (`""`). More than one when a `cd` before it may have failed; undefined when
   * they cannot be known.
   */
  readonly cwds: readonly string[] | undefined
  readonly place: Place
  readonly role: CommandRole
  /** The text gives the program's name to an alias, whose commands are in the reading too; a shell may not use it. */
  readonly isAlias?: true
  /** Why what it runs cannot be known from the text. */
  readonly dynamic: string | undefined
  /** The commands of the reading whose output is its input, `from` up to `to`: what stands before it in its pipe. */
  readonly inputFrom?: CommandSpan
  /** Those whose output stands in its words: what its substitutions run. */
  readonly wordsFrom?: CommandSpan
  /** A substitution takes what it prints. */
  readonly isCaptured?: true
  /** What the exit code of the whole text tells of it: that it went well (0), that it did not (anything else). */
  readonly exit: ExitTells
  /** Where it stands in the text that was read; commands inside a quoted script carry the range of the command that runs the script. */
  readonly start: number
  readonly end: number
}

export interface ExitTells {
  readonly success: boolean
  readonly failure: boolean
}

/** Positions in the commands of a reading. */
export interface CommandSpan {
  readonly from: number
  readonly to: number
}

export interface ShellProblem {
  readonly position: number
  readonly reason: string
}

export interface ShellReading {
  /** Every command that may run, substitutions and scripts handed to a shell included, in the order of the text. */
  readonly commands: readonly SimpleCommand[]
  readonly problems: readonly ShellProblem[]
  /** The folders a shell may stand in behind the text, relative to where it started; undefined when it cannot be known. */
  readonly endsIn: readonly string[] | undefined
  /** False when a command is dynamic or the text could not be read to its end as a shell would. */
  readonly isCertain: boolean
}
