import type { Word } from "../command.js"

/** A path a command touches; `isTree` when everything below it is touched too. */
export interface PathUse {
  readonly word: Word
  readonly isTree: boolean
}

/** What the work of a command is called, where it has a name of its own among actions. */
export type CommandKind = "commit" | "push" | "open_pr" | "merge" | "deploy" | "install" | "publish"

/** What one command does to the world, as far as its words tell. */
export interface CommandEffects {
  readonly program: string | undefined
  readonly writes: readonly PathUse[]
  readonly reads: readonly PathUse[]
  readonly deletes: readonly PathUse[]
  /** What it makes a link to: whatever is written through the link later is written there. */
  readonly linked: readonly PathUse[]
  /** Hosts it talks to; true when it talks to somewhere its words do not name; undefined when it does not. */
  readonly network: readonly string[] | true | undefined
  readonly testRunner: string | undefined
  readonly kind: CommandKind | undefined
  /** Why its words do not tell what it does: inline code, a script, a program without a description. */
  readonly opaque: string | undefined
  /** Why it may run commands that are not in the reading: inline code, a script, an option or a variable that names one. */
  readonly mayRun: string | undefined
}

/** What a program does with its words; what it does not mention it does not do. */
export type EffectReader = (words: readonly Word[]) => Partial<CommandEffects>

/** Opaque because it runs something else. */
export const running = (reason: string): Pick<CommandEffects, "opaque" | "mayRun"> => ({
  opaque: reason,
  mayRun: reason,
})
