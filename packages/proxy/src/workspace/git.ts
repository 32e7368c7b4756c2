import { execFile } from "node:child_process"

const MOST_OUTPUT_BYTES = 32_000_000

/** Nothing that a repository, a hook or an editor configured is started, and no lock is taken that only saves git some work. */
const QUIET = ["-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "core.hooksPath=/dev/null"]

export interface GitAnswer {
  /** Null when git is not there, or was stopped. */
  readonly exitCode: number | null
  readonly stdout: Buffer
  /** What git said about it, in one line. */
  readonly said: string
}

export interface GitQuestion {
  readonly timeoutMs: number
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Starts git in a folder. A caller that reads never lets it write: `status` leaves the index as it is. */
export function runGit(cwd: string, args: readonly string[], question: GitQuestion): Promise<GitAnswer> {
  return new Promise((resolve) => {
    const child = execFile(
      "git",
      [...QUIET, ...args],
      {
        cwd,
        timeout: question.timeoutMs,
        killSignal: "SIGKILL",
        maxBuffer: MOST_OUTPUT_BYTES,
        encoding: "buffer",
        env: {
          ...ofNoRepository(process.env),
          GIT_OPTIONAL_LOCKS: "0",
          GIT_TERMINAL_PROMPT: "0",
          // Contents that a server keeps are not fetched for a look.
          GIT_LFS_SKIP_SMUDGE: "1",
          GIT_NO_LAZY_FETCH: "1",
          LC_ALL: "C",
          ...question.env,
        },
      },
      (error, stdout, stderr) =>
        resolve({
          exitCode: error === null ? 0 : typeof error.code === "number" ? error.code : null,
          stdout,
          said: stderr.toString("utf8").trim().split("\n").at(-1) || (error?.message.split("\n")[0] ?? ""),
        }),
    )
    // A git that ends before it has read everything says why with its exit code.
    child.stdin?.on("error", () => {})
    child.stdin?.end(question.input)
  })
}

/** What git answers; undefined when it is not there, refuses, or takes too long. */
export async function gitBytes(cwd: string, args: readonly string[], timeoutMs: number): Promise<Buffer | undefined> {
  const { exitCode, stdout } = await runGit(cwd, args, { timeoutMs })
  // `git diff --no-index` says with 1 that there is a difference.
  return exitCode === 0 || exitCode === 1 ? stdout : undefined
}

/** The same where the answer is text. */
export async function git(cwd: string, args: readonly string[], timeoutMs: number): Promise<string | undefined> {
  return (await gitBytes(cwd, args, timeoutMs))?.toString("utf8")
}

const STATUS_PATIENCE_MS = 2000

/** Whether tracked files of the repository around a folder differ from its commit; undefined where git does not say. */
export async function differsFromCommit(cwd: string): Promise<boolean | undefined> {
  const changed = await git(cwd, ["status", "--porcelain", "--untracked-files=no"], STATUS_PATIENCE_MS)
  return changed === undefined ? undefined : changed !== ""
}

// The variables that point git at one repository: a hook that starts an agent sets them, and they would win over the folder.
const OF_A_REPOSITORY = new Set([
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_COMMON_DIR",
  "GIT_DIR",
  "GIT_GRAFT_FILE",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_INTERNAL_SUPER_PREFIX",
  "GIT_NAMESPACE",
  "GIT_NO_REPLACE_OBJECTS",
  "GIT_OBJECT_DIRECTORY",
  "GIT_PREFIX",
  "GIT_REPLACE_REF_BASE",
  "GIT_SHALLOW_FILE",
  "GIT_WORK_TREE",
])

/** An environment in which git finds the repository by the folder it is started in. */
export function ofNoRepository(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OF_A_REPOSITORY.has(name)))
}
