import { execFile } from "node:child_process"

const MOST_OUTPUT_BYTES = 32_000_000

/**
 * Asks git, and never lets it write: optional locks are off, so that `status` leaves the index as it is, and nothing that a repository
 * configures is started. Undefined when git is not there, refuses, or takes too long.
 */
export function gitBytes(cwd: string, args: readonly string[], timeoutMs: number): Promise<Buffer | undefined> {
  const { GIT_DIR: _dir, GIT_WORK_TREE: _tree, GIT_INDEX_FILE: _index, ...env } = process.env
  return new Promise((resolve) => {
    execFile(
      "git",
      ["-c", "core.fsmonitor=false", "-c", "core.quotePath=false", ...args],
      {
        cwd,
        timeout: timeoutMs,
        maxBuffer: MOST_OUTPUT_BYTES,
        encoding: "buffer",
        env: { ...env, GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" },
      },
      // `git diff --no-index` says with 1 that there is a difference.
      (error, stdout) => resolve(error === null || error.code === 1 ? stdout : undefined),
    )
  })
}

/** The same where the answer is text. */
export async function git(cwd: string, args: readonly string[], timeoutMs: number): Promise<string | undefined> {
  return (await gitBytes(cwd, args, timeoutMs))?.toString("utf8")
}
