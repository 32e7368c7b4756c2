import { readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import type { Environment } from "@orangebox/contract"

export interface Surroundings {
  readonly environment: Environment
  readonly repo?: string
  readonly branch?: string
}

type Env = Readonly<Record<string, string | undefined>>

/** Where this process runs, from CI variables first and from the git work tree otherwise. Starts no process. */
export function readSurroundings(cwd: string, env: Env): Surroundings {
  const git = readGit(cwd)
  const repo = firstOf(env, CI_REPO) ?? git.repo
  const branch = firstOf(env, CI_BRANCH) ?? git.branch
  return {
    environment: environmentOf(env),
    ...(repo === undefined ? {} : { repo }),
    ...(branch === undefined ? {} : { branch }),
  }
}

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

function readGit(cwd: string): { repo?: string; branch?: string } {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const gitFolder = gitFolderOf(folder)
    if (gitFolder !== undefined) return readGitFolder(gitFolder)
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

function readGitFolder(gitFolder: string): { repo?: string; branch?: string } {
  const branch = /^ref: refs\/heads\/(.+)$/m.exec(readText(join(gitFolder, "HEAD")) ?? "")?.[1]?.trim()
  const common = readText(join(gitFolder, "commondir"))?.trim()
  const config = readText(join(common === undefined ? gitFolder : resolve(gitFolder, common), "config")) ?? ""
  const url = /\[remote "origin"\][^[]*?\n\s*url\s*=\s*(\S+)/.exec(config)?.[1]
  const repo = url && repoName(url)
  return { ...(branch ? { branch } : {}), ...(repo ? { repo } : {}) }
}

/** `host/owner/name` without credentials: people keep tokens in their remote URLs. */
function repoName(url: string): string | undefined {
  const match = /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^:/]+)(?::\d+)?[:/](.+?)(?:\.git)?\/?$/i.exec(url)
  return match ? `${match[1]}/${match[2]}`.slice(0, 512) : undefined
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}
