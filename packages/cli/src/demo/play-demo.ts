import type { AgentTask } from "./agent.js"
import { ADD_WEEKDAYS, FIX_LEAP_YEARS, NAME_LONG_MONTHS, SCRIPT, type ScriptedTask } from "./model-script.js"
import { type ModelServer, startModelServer } from "./model-server.js"
import { createScratchRepository } from "./scratch-repository.js"
import { type AgentEnd, type RunningAgent, startAgent } from "./start-agent.js"

export interface PlayedDemo {
  /** Its cache broke with every call. */
  readonly clocked: AgentEnd
  readonly finished: AgentEnd
  readonly killed: AgentEnd & {
    readonly pid: number
    /** Bytes of the unfinished answer that the recorder had acknowledged to the agent when it was killed. */
    readonly acknowledgedBytes: number
  }
}

export interface DemoStage {
  readonly dataFolder: string
  readonly say: (line: string) => void
  /** Aborted when the user has had enough. */
  readonly signal: AbortSignal
}

const CONVERSATION = "demo"

/**
 * Three runs of a real agent on a real project: one that breaks its own cache, one that ends, one that is killed while its answer streams in.
 * Leaves nothing but the records.
 */
export async function playDemo(stage: DemoStage): Promise<PlayedDemo> {
  const repository = createScratchRepository()
  const server = await startModelServer(SCRIPT)
  const cast = new Set<RunningAgent>()
  const closeDown = (): void => {
    for (const agent of cast) agent.kill()
  }
  stage.signal.addEventListener("abort", closeDown)
  const start = (task: ScriptedTask, line: string): RunningAgent => {
    stage.signal.throwIfAborted()
    stage.say(line)
    const agent = startAgent(agentTask(task, server, repository.path, stage.dataFolder))
    cast.add(agent)
    return agent
  }
  try {
    stage.say(`a scripted model answers at ${server.url}, streaming, over the Anthropic Messages API`)
    const clocked = await start(
      NAME_LONG_MONTHS,
      "an agent in its own process looks something up, with a clock in its system prompt …",
    ).ended
    const finished = await start(FIX_LEAP_YEARS, "another fixes a bug in a scratch project …").ended
    const victim = start(ADD_WEEKDAYS, "a third one is killed with SIGKILL in the middle of an answer …")
    const acknowledgedBytes = await killInMidAnswer(victim, server)
    const killed = { ...(await victim.ended), pid: victim.pid, acknowledgedBytes }
    stage.signal.throwIfAborted()
    return { clocked, finished, killed }
  } catch (error) {
    // An agent that was killed on the way out ends too early for itself, but not for the user who pressed Ctrl-C.
    stage.signal.throwIfAborted()
    throw error
  } finally {
    stage.signal.removeEventListener("abort", closeDown)
    closeDown()
    await server.close()
    repository.remove()
  }
}

function agentTask(task: ScriptedTask, server: ModelServer, workspace: string, dataFolder: string): AgentTask {
  const { entrypoint, request, constraints = [], hasClock = false } = task
  const asked = { conversationId: CONVERSATION, entrypoint, request, constraints, hasClock }
  return { modelUrl: server.url, workspace, dataFolder, ...asked }
}

/** Kills the agent once everything the server has sent is recorded and nothing more comes: then it is known what must be found later. */
async function killInMidAnswer(agent: RunningAgent, server: ModelServer): Promise<number> {
  const sentBytes = await Promise.race([server.stopped, agent.ended.then(() => 0)])
  await new Promise<void>((resolve) => {
    const check = (): void => {
      if (agent.answerBytes() >= sentBytes) resolve()
    }
    agent.onReport(check)
    agent.ended.then(
      () => resolve(),
      () => resolve(),
    )
    check()
  })
  agent.kill()
  return agent.answerBytes()
}
