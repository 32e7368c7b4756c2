import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { advice, OrangeboxError, suggested } from "@orangebox/contract"
import type { AgentReport, AgentTask } from "./agent.js"

/** The agent's process and what it has said so far. */
export interface RunningAgent {
  readonly pid: number
  readonly ended: Promise<AgentEnd>
  /** Bytes of the current answer that the recorder has acknowledged. */
  answerBytes(): number
  onReport(listener: (report: AgentReport) => void): void
  kill(): void
}

export interface AgentEnd {
  readonly runId: string
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly dropped: number
}

const AGENT = fileURLToPath(new URL("agent.js", import.meta.url))

export function startAgent(task: AgentTask): RunningAgent {
  const child = fork(AGENT, [JSON.stringify(task)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    execArgv: [],
    env: agentEnv(process.env),
  })
  let runId: string | undefined
  let answerBytes = 0
  let dropped = 0
  const take = (report: AgentReport): void => {
    if (report.kind === "started") runId = report.runId
    else if (report.kind === "recorded") answerBytes = report.answerBytes
    else dropped = report.dropped
  }
  child.on("message", (report) => take(report as AgentReport))
  return {
    pid: child.pid ?? 0,
    answerBytes: () => answerBytes,
    onReport: (listener) => void child.on("message", (report) => listener(report as AgentReport)),
    kill: () => void child.kill("SIGKILL"),
    ended: endOf(child).then(({ exitCode, signal }) => {
      if (runId === undefined) throw notStarted(exitCode)
      return { runId, exitCode, signal, dropped }
    }),
  }
}

/** A demo records although recording is switched off elsewhere, and reaches the loopback although a proxy is set. */
function agentEnv({ ORANGEBOX: _off, NODE_USE_ENV_PROXY: _proxy, ...env }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return env
}

function endOf(child: ChildProcess): Promise<Pick<AgentEnd, "exitCode" | "signal">> {
  return new Promise((done, failed) => {
    child.once("error", failed)
    child.once("exit", (exitCode, signal) => done({ exitCode, signal }))
  })
}

function notStarted(exitCode: number | null): OrangeboxError {
  return new OrangeboxError("DEMO_AGENT", {
    what: `the demo's agent ended before it recorded anything (exit code ${exitCode})`,
    where: AGENT,
    next: advice`What it printed is above; check the installation with: ${suggested("doctor")}`,
  })
}
