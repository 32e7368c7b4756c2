import { laneLabel, type RequestAnatomy, type ToolAnswered, type ToolCalled, WIRE_REDUCER } from "@orangebox/dialects"
import {
  failInferredStep,
  faultOfCall,
  type InferredToolStep,
  openInferredStep,
  openInferredTool,
  type Step,
} from "@orangebox/recorder"
import type { OpenRun } from "./open-runs.js"

/** A tool call that was asked for and not answered yet. */
interface PendingTool {
  readonly name: string
  readonly callId: string | null
  readonly tool: InferredToolStep
  /** The sub-agents that work for it. */
  readonly agents: LaneRecorder[]
}

/**
 * One agent's chain of calls as steps: a turn for everything between a question and its answer, the model calls and tools of the turn below
 * it. All of it is deduced, and every event here says so.
 */
export class LaneRecorder {
  readonly id: string
  readonly open: OpenRun
  /** What the lane's steps hang under: the run, or the step of a sub-agent. */
  readonly #root: Step
  readonly #isAgent: boolean
  readonly #tools: PendingTool[] = []
  #turn: Step | undefined
  /** How its last call failed; undefined where it did not. */
  #failure: string | undefined

  constructor(id: string, open: OpenRun, agent: Step | undefined) {
    this.id = id
    this.open = open
    this.#root = agent ?? open.run
    this.#isAgent = agent !== undefined
  }

  /** A lane for a sub-agent, below the tool call that asked for it or, where that is not known, below the turn. */
  static forAgent(id: string, boss: LaneRecorder, toolCallId: string | null, task: string | undefined): LaneRecorder {
    const pending = boss.#tools.find((tool) => toolCallId !== null && tool.callId === toolCallId)
    const step = openInferredStep(pending?.tool.step ?? boss.place, {
      name: task ?? "sub-agent",
      kind: "agent",
      laneId: laneLabel(id),
      inferredBy: WIRE_REDUCER,
    })
    const lane = new LaneRecorder(id, boss.open, step)
    pending?.agents.push(lane)
    return lane
  }

  /** The same agent after its history was replaced: its turn goes on. */
  static goingOn(id: string, before: LaneRecorder): LaneRecorder {
    const lane = new LaneRecorder(id, before.open, before.#isAgent ? before.#root : undefined)
    lane.#turn = before.#turn
    lane.#failure = before.#failure
    before.#turn = undefined
    return lane
  }

  get place(): Step {
    return this.#turn ?? this.#root
  }

  /** Makes sure that a call with these contents has a turn to stand in. One that asks for a summary of the history is none of the user's. */
  takeRequest(request: RequestAnatomy | undefined, isContinued: boolean, about?: "compaction" | "summary"): void {
    if (about === "compaction") {
      this.endTurn()
      this.#turn = this.#open("the history is summed up", "compaction")
      return
    }
    // A call without tools is a turn by itself; a step around every one would only double the tree.
    if (this.#isAgent || request === undefined || request.tools.length === 0) return
    const question = questionOf(request)
    if (this.#turn !== undefined && (question === undefined || isContinued)) return
    this.endTurn()
    this.#turn = this.#open(about === "summary" ? "goes on from the summary" : (question ?? "goes on"), "turn")
  }

  #open(name: string, kind: string): Step {
    return openInferredStep(this.#root, { name, kind, laneId: laneLabel(this.id), inferredBy: WIRE_REDUCER })
  }

  /** Returns the step of the call. */
  toolCalled(called: ToolCalled, byStepId: string): string {
    const tool = openInferredTool(this.place, {
      name: called.tool,
      callId: called.toolCallId,
      argumentText: called.arguments,
      laneId: laneLabel(this.id),
      inferredBy: WIRE_REDUCER,
      follows: [byStepId],
    })
    this.#tools.push({ name: called.tool, callId: called.toolCallId, tool, agents: [] })
    return tool.step.id
  }

  /** Returns the step of the call; undefined when the call this result belongs to was not seen. */
  toolAnswered({ toolCallId, tool, text, isError }: ToolAnswered): string | undefined {
    const at = this.#tools.findIndex((pending) =>
      toolCallId ? pending.callId === toolCallId : pending.callId === null && pending.name === tool,
    )
    const [pending] = at < 0 ? [] : this.#tools.splice(at, 1)
    if (!pending) return undefined
    for (const agent of pending.agents) agent.end()
    pending.tool.end({ text, status: isError === true ? "error" : "success", isError })
    return pending.tool.step.id
  }

  callEnded(failure: string | undefined): void {
    this.#failure = failure
  }

  /** The agent gave its answer and waits for the next question, or got none: a turn ends as its last call did. */
  endTurn(): void {
    if (this.#turn !== undefined) this.#endStep(this.#turn)
    // A call without tools has no turn; its failure is the run's.
    else if (this.#failure !== undefined && !this.#isAgent) faultOfCall(this.#root, this.#failure)
    this.#turn = undefined
    this.#failure = undefined
  }

  #endStep(step: Step): void {
    if (this.#failure === undefined) step.end()
    else failInferredStep(step, this.#failure)
  }

  /** Nothing more comes. Tools that were never answered stay open: that is what is known about them. */
  end(): void {
    for (const pending of this.#tools) for (const agent of pending.agents) agent.end()
    if (this.#isAgent) this.#endStep(this.#root)
    else this.endTurn()
  }
}

/** What the last message asks, whole, if it is a question of the user and not the results of tools. */
export function questionOf(request: RequestAnatomy): string | undefined {
  const last = request.messages.findLast((message) => message.role !== "system")
  if (last?.role !== "user" || last.parts.some((part) => part.kind === "tool-result")) return undefined
  // Harnesses put reminders around what the user typed; the longest text without angle brackets in front is most likely his own.
  const texts = last.parts.flatMap((part) => (part.kind === "text" && part.text ? [part.text.trim()] : []))
  const own = texts.filter((text) => !text.startsWith("<"))
  const question = (own.length > 0 ? own : texts).at(-1)
  return question === "" ? undefined : question
}
