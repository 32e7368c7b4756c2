import { dirname, join, resolve } from "node:path"
import type { Environment } from "@orangebox/contract"
import { readSmallFile } from "./small-file.js"

export interface Surroundings {
  readonly environment: Environment
  readonly repo?: string
  readonly branch?: string
  readonly commit?: string
  /** The top of the git work tree. */
  readonly root?: string
}

type Env = Readonly<Record<string, string | undefined>>

/** Where this process runs, from CI variables first and from the git work tree otherwise. Starts no process. */
export function readSurroundings(cwd: string, env: Env): Surroundings {
  const git = readGit(cwd)
  const repo = firstOf(env, CI_REPO) ?? git.repo
  const branch = firstOf(env, CI_BRANCH) ?? git.branch
  // What is checked out is what runs; a variable tells where the repository was left behind, as in an image.
  const commit = git.commit ?? firstOf(env, BUILD_COMMIT)
  return {
    environment: environmentOf(env),
    ...(repo === undefined ? {} : { repo }),
    ...(branch === undefined ? {} : { branch }),
    ...(commit !== undefined && COMMIT.test(commit) ? { commit } : {}),
    ...(git.root === undefined ? {} : { root: git.root }),
  }
}

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

const CI_REPO = ["GITHUB_REPOSITORY", "CI_PROJECT_PATH", "BITBUCKET_REPO_FULL_NAME", "BUILD_REPOSITORY_NAME"]
const CI_BRANCH = [
  "GITHUB_HEAD_REF",
  "GITHUB_REF_NAME",
  "CI_COMMIT_REF_NAME",
  "BITBUCKET_BRANCH",
  "BUILDKITE_BRANCH",
  "CIRCLE_BRANCH",
  "BUILD_SOURCEBRANCHNAME",
]

const BUILD_COMMIT = [
  "GITHUB_SHA",
  "CI_COMMIT_SHA",
  "BITBUCKET_COMMIT",
  "BUILDKITE_COMMIT",
  "CIRCLE_SHA1",
  "BUILD_SOURCEVERSION",
  "GIT_COMMIT",
  "SOURCE_VERSION",
]

function firstOf(env: Env, names: readonly string[]): string | undefined {
  return names.map((name) => env[name]).find((value) => value !== undefined && value !== "")
}

function environmentOf(env: Env): Environment {
  const ci = env["CI"]
  if (ci !== undefined && ci !== "" && ci !== "0" && ci !== "false") return "ci"
  if (env["NODE_ENV"] === "production") return "prod"
  if (env["NODE_ENV"] === "staging") return "staging"
  return "local"
}

type GitFacts = Pick<Surroundings, "repo" | "branch" | "commit" | "root">

function readGit(cwd: string): GitFacts {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const gitFolder = gitFolderOf(folder)
    if (gitFolder !== undefined) return { ...readGitFolder(gitFolder), root: folder }
    if (folder === dirname(folder)) return {}
  }
}

function gitFolderOf(folder: string): string | undefined {
  const path = join(folder, ".git")
  if (readText(join(path, "HEAD")) !== undefined) return path
  // In a linked work tree .git is a file that names the real folder.
  const pointer = /^gitdir: (.+)$/m.exec(readText(path) ?? "")
  return pointer ? resolve(folder, pointer[1]!.trim()) : undefined
}

function readGitFolder(gitFolder: string): GitFacts {
  const head = readText(join(gitFolder, "HEAD"))?.trim() ?? ""
  const branch = /^ref: refs\/heads\/(.+)$/.exec(head)?.[1]
  const pointer = readText(join(gitFolder, "commondir"))?.trim()
  const common = pointer === undefined ? gitFolder : resolve(gitFolder, pointer)
  const commit = commitOf(head, [gitFolder, common])
  const config = readText(join(common, "config")) ?? ""
  const url = /\[remote "origin"\][^[]*?\n\s*url\s*=\s*(\S+)/.exec(config)?.[1]
  const repo = url && repoName(url)
  return { ...(branch ? { branch } : {}), ...(repo ? { repo } : {}), ...(commit ? { commit } : {}) }
}

/**
 * The commit a ref stands for. A linked work tree has some refs of its own and shares the rest; refs that are not files are packed into one.
 * A branch without a commit has none, and refs that git keeps in its own table format are not read.
 */
function commitOf(ref: string, folders: readonly string[], depth = 0): string | undefined {
  const name = /^ref: (refs\/.+)$/.exec(ref)?.[1]
  if (name === undefined) return COMMIT.test(ref) ? ref : undefined
  if (depth > MOST_SYMBOLIC || name.split("/").includes("..")) return undefined
  for (const folder of folders) {
    const found = readText(join(folder, name))?.trim()
    if (found !== undefined) return commitOf(found, folders, depth + 1)
  }
  const packed = readText(join(folders.at(-1)!, "packed-refs")) ?? ""
  const line = packed.split("\n").find((one) => one.endsWith(` ${name}`))
  return line && commitOf(line.slice(0, line.indexOf(" ")), folders, depth + 1)
}

const MOST_SYMBOLIC = 5

/** `host/owner/name` without credentials: people keep tokens in their remote URLs. */
function repoName(url: string): string | undefined {
  const match = /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^:/]+)(?::\d+)?[:/](.+?)(?:\.git)?\/?$/i.exec(url)
  return match ? `${match[1]}/${match[2]}`.slice(0, 512) : undefined
}

/** The packed refs of the largest repositories have tens of megabytes. */
const MOST_GIT_BYTES = 64 * 2 ** 20

function readText(path: string): string | undefined {
  try {
    return readSmallFile(path, MOST_GIT_BYTES)
  } catch {
    return undefined
  }
}
