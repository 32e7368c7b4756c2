import type { ActionType } from "@orangebox/contract"
import type { Commit, EvidencePointer, NetworkTarget, PullRequest, TestRun } from "../action.js"
import {
  type CommandEffects,
  classifyCommand,
  type ExitTells,
  isLocalHost,
  parseShell,
  type SimpleCommand,
} from "../shell/index.js"
import { readTestOutput, type TestCounts } from "./read-test-output.js"
import { testScopeOf } from "./test-scope.js"

/** What a command line did, from its words and from what it printed. */
export interface CommandReading {
  readonly action: ActionType
  readonly testRuns: readonly TestRun[]
  readonly commits: readonly Commit[]
  readonly pullRequests: readonly PullRequest[]
  readonly targets: readonly NetworkTarget[]
}

export interface CommandRun {
  readonly text: string
  /** Null when it is not kept, or the command has not ended. */
  readonly output: string | null
  readonly exitCode: number | null
  readonly evidence: EvidencePointer
  readonly outputEvidence: EvidencePointer
}

export function readCommand(run: CommandRun): CommandReading {
  const commands = parseShell(run.text).commands.filter(({ role }) => role === "command" || role === "carrier")
  const effects = commands.map(classifyCommand)
  const testRuns = testRunsOf(run, commands, effects)
  const hosts = new Set(effects.flatMap(({ network }) => (network === undefined || network === true ? [] : network)))
  return {
    action: weightiest(effects.map(actionOf).concat(testRuns.length > 0 ? ["run_tests"] : [])),
    testRuns,
    commits: effects.some(({ kind }) => kind === "commit") ? commitsOf(run, commands) : [],
    pullRequests: effects.some(({ kind }) => kind === "open_pr") ? [pullRequestOf(run, commands)] : [],
    targets: [...hosts].map((target) => ({ target, evidence: run.evidence })),
  }
}

/** When a line does several things, the one with the widest effect names it. */
const WEIGHT: readonly ActionType[] = ["deploy", "merge", "open_pr", "run_tests", "api_call"]
const weightiest = (actions: readonly ActionType[]): ActionType =>
  WEIGHT.find((action) => actions.includes(action)) ?? "command"

const CALLERS: ReadonlySet<string | undefined> = new Set(["curl", "wget", "http", "https", "xh", "grpcurl", "websocat"])

function actionOf({ kind, testRunner, network, program }: CommandEffects): ActionType {
  if (kind === "deploy" || kind === "publish") return "deploy"
  if (kind === "merge" || kind === "open_pr") return kind
  if (testRunner !== undefined) return "run_tests"
  const isAway = network === true || (network?.some((host) => !isLocalHost(host)) ?? false)
  return CALLERS.has(program) && isAway ? "api_call" : "command"
}

/** What runs a project's own scripts or builds, and so perhaps its tests, whatever they are called. */
const SCRIPTS: ReadonlySet<string | undefined> = new Set([
  ...["npm", "yarn", "pnpm", "bun", "make", "just", "task", "mvn", "mvnw", "gradle", "gradlew", "nx", "turbo", "lerna"],
  ...["sh", "bash", "ninja", "cmake", "meson", "rake", "sbt", "bazel", "uv", "poetry", "bundle"],
])

/** Whether a command runs tests, or something that may. */
export const mayRunTests = ({ testRunner, program }: CommandEffects): boolean =>
  testRunner !== undefined || SCRIPTS.has(program) || /\.(?:sh|py|js|mjs|ts)$/.test(program ?? "")

function testRunsOf(
  run: CommandRun,
  commands: readonly SimpleCommand[],
  effects: readonly CommandEffects[],
): TestRun[] {
  const at = effects.findIndex(({ testRunner }) => testRunner !== undefined)
  // A log that is only printed looks like a run; so the output of a command that cannot run tests is not searched.
  if (!effects.some(mayRunTests)) return []
  const counts = run.output === null ? undefined : readTestOutput(run.output)
  if (at === -1 && counts === undefined) return []
  const command = commands[at === -1 ? effects.findIndex(mayRunTests) : at]!
  return [
    {
      // The output knows which runner a script started; the command knows only the script.
      runner: counts?.runner ?? effects[at]?.testRunner ?? "script",
      scope: at === -1 ? [run.text] : testScopeOf(command),
      command: run.text,
      exitCode: run.exitCode,
      passed: counts?.passed ?? null,
      failed: counts?.failed ?? null,
      skipped: counts?.skipped ?? null,
      outcome: outcomeOf(run.exitCode, counts, command.exit),
      summary: counts?.summary ?? (run.exitCode === null ? "result unknown" : `exit code ${run.exitCode}`),
      evidence: counts === undefined ? run.evidence : run.outputEvidence,
    },
  ]
}

/**
 * What the tests themselves say, in their summary or by their exit code. That of the command line is theirs only where nothing stands between:
 * `npm test || true` and `npm test | tail` end with 0 whatever happened. A runner may crash after its last summary.
 */
function outcomeOf(exitCode: number | null, counts: TestCounts | undefined, exit: ExitTells): TestRun["outcome"] {
  if ((counts?.failed ?? 0) > 0) return "failed"
  if (exitCode !== null && exitCode !== 0 && exit.failure) return "failed"
  if (counts?.failed === 0 || (exitCode === 0 && exit.success)) return "passed"
  return "unknown"
}

// `[main 1a2b3c4] Fix the leap year`, `[detached HEAD 1a2b3c4] …`, `[main (root-commit) 1a2b3c4] …`
const COMMITTED = /^\[[^\]\n]{0,200}? ?([0-9a-f]{7,40})\] (.*)$/gm

function commitsOf(run: CommandRun, commands: readonly SimpleCommand[]): Commit[] {
  const printed = [...(run.output ?? "").matchAll(COMMITTED)].map(([, id, message]) => ({
    id: id!,
    message: message!.trim(),
    evidence: run.outputEvidence,
  }))
  if (printed.length > 0) return printed
  // A commit that failed made nothing; one whose output was not kept may have.
  if (run.exitCode !== null && run.exitCode !== 0) return []
  return [{ id: null, message: optionOf(commands, "-m", "--message", "-am"), evidence: run.evidence }]
}

const PR_URL = /https?:\/\/[^\s"'<>]{1,300}\/(?:pull|pulls|merge_requests|pull-requests)\/\d+/

function pullRequestOf(run: CommandRun, commands: readonly SimpleCommand[]): PullRequest {
  const url = PR_URL.exec(run.output ?? "")?.[0] ?? null
  return {
    url,
    title: optionOf(commands, "--title", "-t"),
    evidence: url === null ? run.evidence : run.outputEvidence,
  }
}

export const pullRequestUrlIn = (text: string): string | null =>
  PR_URL.exec(text)?.[0].replace("api.github.com/repos", "github.com").replace("/pulls/", "/pull/") ?? null

function optionOf(commands: readonly SimpleCommand[], ...names: string[]): string | null {
  for (const { words } of commands) {
    for (const [at, { text }] of words.entries()) {
      if (names.includes(text)) return words[at + 1]?.text ?? null
      const name = names.find((candidate) => text.startsWith(`${candidate}=`))
      if (name !== undefined) return text.slice(name.length + 1)
    }
  }
  return null
}
