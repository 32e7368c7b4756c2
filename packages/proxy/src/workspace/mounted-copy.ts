import { execFile } from "node:child_process"
import { existsSync } from "node:fs"

/** A folder that a command is to find in the place of another. */
export interface StandIn {
  readonly copy: string
  readonly original: string
  /** Folders inside the original that stay the original's: a data folder that is written to. */
  readonly kept: readonly string[]
  /** Folders of the original that the copy reads, and where it reads them. */
  readonly lent: readonly { readonly from: string; readonly at: string }[]
  /** Where the command is started, as it sees it. */
  readonly folder: string
}

/** The words that start a command with the copy in the place of the original. */
export type Mounting = (command: readonly string[]) => readonly [string, ...string[]]

/** One way to do that. Which of them work on a machine is not to be read from its settings, so each is tried. */
export interface MountWay {
  readonly by: string
  mounting(standIn: StandIn): Mounting
}

const TRIAL_MS = 5_000

/**
 * Finds a way to show a command and its children a copy in the place of the original, for them alone: nothing on disk is moved, and no other
 * process sees it. Undefined where the system has none.
 */
export async function findMounting(
  standIn: StandIn,
  ways: readonly MountWay[] = mountWays(),
): Promise<Mounting | undefined> {
  if (!existsSync(standIn.original)) return undefined
  for (const way of ways) {
    const mounting = way.mounting(standIn)
    if (await works(mounting, standIn)) return mounting
  }
  return undefined
}

/**
 * A namespace of mounts by `unshare`, else by `bwrap`. The first becomes the command itself, so that signals reach it and its end is its own;
 * `bwrap` stays in between: it turns a signal to it into a kill of the command, and a command that a signal ended into an exit code.
 */
export function mountWays(uid: number | undefined = process.getuid?.()): readonly MountWay[] {
  if (process.platform !== "linux") return []
  // A root user keeps the rights of root. Everybody else is root in a namespace of users of their own, and themselves again in a second.
  return [...(uid === 0 ? [unshareWay([])] : []), unshareWay(["-U", "-r"]), BWRAP]
}

function unshareWay(users: readonly string[]): MountWay {
  return {
    by: `unshare ${[...users, "-m"].join(" ")}`,
    mounting: ({ copy, original, kept, lent, folder }) => {
      const inside = kept.map((path) => ({ from: path, at: `${copy}${path.slice(original.length)}` }))
      // What is mounted in the copy comes along when the copy is mounted.
      const binds = [...inside, ...lent, { from: copy, at: original }].flatMap(({ from, at }) => [from, at])
      const self = users.length === 0 ? [] : ["unshare", "-U", ...selfMaps(), "--"]
      const words = ["unshare", ...users, "-m", "--", "sh", "-c", BIND_ALL, "sh", folder, ...binds, "--", ...self]
      return (command) => [words[0]!, ...words.slice(1), ...command]
    },
  }
}

const BIND_ALL =
  'folder=$1; shift; while [ "$1" != -- ]; do mount --rbind "$1" "$2" || exit 125; shift 2; done; shift; cd "$folder" && exec "$@"'

const selfMaps = (): readonly string[] => [`--map-user=${process.getuid?.()}`, `--map-group=${process.getgid?.()}`]

const BWRAP: MountWay = {
  by: "bwrap",
  mounting: ({ copy, original, kept, lent, folder }) => {
    const words = [
      ...["--dev-bind", "/", "/"],
      ...lent.flatMap(({ from, at }) => ["--ro-bind", from, at]),
      ...["--bind", copy, original],
      ...kept.flatMap((path) => ["--bind", path, path]),
      ...["--chdir", folder, "--die-with-parent", "--"],
    ]
    return (command) => ["bwrap", ...words, ...command]
  },
}

/** A command that is started this way finds the copy, can write to what is kept, and is who it was. */
function works(mounting: Mounting, { copy, original, kept }: StandIn): Promise<boolean> {
  const id = `${process.getuid?.()}:${process.getgid?.()}`
  const [program, ...args] = mounting(["sh", "-c", TRIAL, "sh", original, copy, id, ...kept])
  return new Promise((resolve) => {
    execFile(program, args, { timeout: TRIAL_MS, killSignal: "SIGKILL" }, (error) => resolve(error === null))
  })
}

const TRIAL =
  '[ "$1" -ef "$2" ] && [ "$(id -u):$(id -g)" = "$3" ] || exit 1; shift 3; for kept do [ -w "$kept" ] || exit 1; done'
