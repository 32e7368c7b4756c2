import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { readSurroundings } from "../src/surroundings.js"
import { recordInMemory } from "./recording.js"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "orangebox-git-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function gitAt(path: string, head: string, url: string): void {
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, "HEAD"), head)
  writeFileSync(join(path, "config"), `[core]\n\tbare = false\n[remote "origin"]\n\turl = ${url}\n`)
}

describe("surroundings", () => {
  test("[R-14] repo and branch come from the git work tree, from any folder below it", () => {
    gitAt(join(folder, ".git"), "ref: refs/heads/fix/dates\n", "git@github.example:acme/shop.git")
    mkdirSync(join(folder, "src/deep"), { recursive: true })
    expect(readSurroundings(join(folder, "src/deep"), {})).toEqual({
      environment: "local",
      repo: "github.example/acme/shop",
      branch: "fix/dates",
      root: folder,
    })
  })

  test("[R-14] a linked work tree is followed, and a detached head has no branch", () => {
    gitAt(join(folder, "main/.git"), "ref: refs/heads/main\n", "https://github.example/acme/shop")
    gitAt(join(folder, "main/.git/worktrees/two"), "0123456789abcdef0123456789abcdef01234567\n", "ignored")
    writeFileSync(join(folder, "main/.git/worktrees/two/commondir"), "../..\n")
    mkdirSync(join(folder, "two"))
    writeFileSync(join(folder, "two/.git"), "gitdir: ../main/.git/worktrees/two\n")
    expect(readSurroundings(join(folder, "two"), {})).toEqual({
      environment: "local",
      repo: "github.example/acme/shop",
      commit: "0123456789abcdef0123456789abcdef01234567",
      root: join(folder, "two"),
    })
  })

  const COMMIT = "0123456789abcdef0123456789abcdef01234567"
  const PACKED = `# pack-refs with: peeled fully-peeled sorted\n${COMMIT} refs/heads/packed\n^${"f".repeat(40)}\n`

  test("[R-17] the commit is that of the branch, loose or packed, and of a head without a branch", () => {
    const git = join(folder, ".git")
    const commit = (head: string) => {
      gitAt(git, head, "git@x:a/b.git")
      return readSurroundings(folder, {}).commit
    }
    mkdirSync(join(git, "refs/heads/fix"), { recursive: true })
    writeFileSync(join(git, "refs/heads/fix/dates"), `${COMMIT}\n`)
    writeFileSync(join(git, "packed-refs"), PACKED)
    writeFileSync(join(git, "refs/heads/alias"), "ref: refs/heads/packed\n")
    writeFileSync(join(git, "refs/heads/circle"), "ref: refs/heads/circle\n")
    expect(commit("ref: refs/heads/fix/dates\n")).toBe(COMMIT)
    expect(commit("ref: refs/heads/packed\n")).toBe(COMMIT)
    expect(commit("ref: refs/heads/alias\n")).toBe(COMMIT)
    expect(commit(`${COMMIT}\n`)).toBe(COMMIT)
    expect(commit("a".repeat(64))).toBe("a".repeat(64))
    for (const head of [
      "ref: refs/heads/unborn\n",
      "ref: refs/heads/circle\n",
      "ref: refs/../../secret\n",
      "nonsense",
    ]) {
      expect([head, commit(head)]).toEqual([head, undefined])
    }
  })

  test("[R-17] a linked work tree has the commit of its own head, from refs it shares", () => {
    gitAt(join(folder, "main/.git"), "ref: refs/heads/main\n", "https://github.example/acme/shop")
    gitAt(join(folder, "main/.git/worktrees/two"), "ref: refs/heads/packed\n", "ignored")
    writeFileSync(join(folder, "main/.git/worktrees/two/commondir"), "../..\n")
    writeFileSync(join(folder, "main/.git/packed-refs"), PACKED)
    mkdirSync(join(folder, "two"))
    writeFileSync(join(folder, "two/.git"), "gitdir: ../main/.git/worktrees/two\n")
    expect(readSurroundings(join(folder, "two"), {})).toMatchObject({ branch: "packed", commit: COMMIT })
  })

  test("[R-17] outside a repository there is none, unless the build says it, and what is no commit is not taken for one", () => {
    expect(readSurroundings("/", {})).not.toHaveProperty("commit")
    expect(readSurroundings("/", { GITHUB_SHA: COMMIT }).commit).toBe(COMMIT)
    expect(readSurroundings("/", { GIT_COMMIT: "unknown" })).not.toHaveProperty("commit")
    const { recorder, only } = recordInMemory({ commit: COMMIT, isDirty: true, capture: "hashed" })
    recorder.startRun({ entrypoint: "fix" })
    expect(only("run_started").payload).toMatchObject({ commit: COMMIT, is_dirty: true })
  })

  test("[R-14] credentials in a remote URL never become part of the repo name", () => {
    gitAt(join(folder, ".git"), "ref: refs/heads/main\n", "https://user:s3cr3t@git.example:8443/acme/shop.git")
    const { repo } = readSurroundings(folder, {})
    expect(repo).toBe("git.example/acme/shop")
  })

  test("[R-14] CI variables win over git, and CI is an environment of its own", () => {
    gitAt(join(folder, ".git"), "ref: refs/heads/main\n", "git@x:a/b.git")
    const env = { CI: "true", GITHUB_REPOSITORY: "acme/shop", GITHUB_REF_NAME: "release" }
    expect(readSurroundings(folder, env)).toEqual({
      environment: "ci",
      repo: "acme/shop",
      branch: "release",
      root: folder,
    })
    expect(readSurroundings(folder, { NODE_ENV: "production" }).environment).toBe("prod")
  })

  test("[R-14] open and startRun take agent, environment, request, constraints, channel, repo, branch and ticket", () => {
    const { recorder, only } = recordInMemory({
      agentId: "fixer-1",
      agentVersion: "2.0",
      repo: "acme/shop",
      environment: "staging",
    })
    recorder.startRun({
      entrypoint: "fix",
      requestId: "req-1",
      channel: "slack",
      branch: "main",
      ticket: "SHOP-7",
      userSession: "session-of-a-person",
      constraints: [{ id: "c1", type: "scope", rule: 'paths.only "src/**"' }],
    })
    const { payload } = only("run_started")
    expect(payload).toMatchObject({
      agent_id: "fixer-1",
      agent_version: "2.0",
      environment: "staging",
      request_id: "req-1",
      channel: "slack",
      repo: "acme/shop",
      branch: "main",
      ticket_id: "SHOP-7",
      constraints: [{ id: "c1", type: "scope", rule: 'paths.only "src/**"' }],
    })
    expect(JSON.stringify(payload)).not.toContain("session-of-a-person")
  })
})
