import { type Event, type EventType, textHash } from "@orangebox/contract"
import { diffRuns, type RunToDiff } from "@orangebox/replay"
import { describe, expect, test } from "vitest"
import { plainEvent } from "./plain-event.js"

/** Events by hand, for what scripts do not do: lanes, retrievals, artifacts, verdicts, user turns. */
class Hand {
  readonly events: Event[] = []
  readonly #texts = new Map<string, string>()
  readonly #letter: string
  #steps = 0

  constructor(letter: string) {
    this.#letter = letter
    this.emit("run_started", this.step(), null, {
      app_id: "x",
      environment: "local",
      entrypoint_name: "x",
      user_session_ref: null,
      input_summary: "go",
    })
  }

  step(): string {
    return `${this.#letter.charCodeAt(0).toString(16)}${(++this.#steps).toString(16).padStart(14, "0")}`
  }

  get root(): string {
    return this.events[0]!.step_id!
  }

  text(text: string): string {
    const ref = textHash(text)
    this.#texts.set(ref, text)
    return ref
  }

  emit(type: EventType, step: string, parent: string | null, payload: object, more: Partial<Event> = {}): void {
    this.events.push(plainEvent(this.#letter, this.events.length, type, step, parent, payload, more))
  }

  model(says: string, lane: string, links: Event["links"] = []): () => void {
    const step = this.step()
    const more = { lane_id: lane, links }
    const payload = {
      provider: "p",
      model_id: "m",
      request_ref: this.text(`ask ${says}`),
      call_signature_hash: textHash(`ask ${says}`),
    }
    this.emit("model_called", step, this.root, payload, more)
    return () =>
      this.emit(
        "model_result",
        step,
        this.root,
        { provider: "p", model_id: "m", response_ref: this.text(says), status: "success" },
        more,
      )
  }

  done(): RunToDiff {
    this.emit("run_completed", this.root, null, { status: "success", total_steps: this.#steps, total_latency_ms: 1 })
    return {
      events: this.events,
      body: (ref) => {
        const text = this.#texts.get(ref)
        return text === undefined ? { absent: "lost" } : new TextEncoder().encode(text)
      },
    }
  }
}

describe("[P-09] runs of other shapes", () => {
  test("[P-09] sub-agents that are told apart only by their lanes are compared lane by lane, however they interleave", () => {
    const run = (letter: string, order: readonly number[], last: string): RunToDiff => {
      const hand = new Hand(letter)
      hand.model("I send two agents.", "main")()
      const said = [
        ["alpha one", "alpha two", "alpha three"],
        ["beta one", "beta two", last],
      ]
      const at = [0, 0]
      for (const lane of order) hand.model(said[lane]![at[lane]!++]!, `lane-${lane}`)()
      hand.model("Both are back.", "main")()
      return hand.done()
    }
    const [a, b] = [run("A", [0, 0, 0, 1, 1, 1], "beta three"), run("B", [1, 0, 1, 0, 1, 0], "beta drei")]
    const diff = diffRuns(a, b)
    expect(diff.stats).toMatchObject({ inserted: 0, removed: 0, changed: 1 })
    expect(diff.items.find(({ change }) => change === "changed")).toMatchObject({
      a: { lane_id: "lane-1" },
      cause: "propagated",
    })
  })

  test("[P-09] a retrieval, a verdict, a user turn and a written file are steps of the diff", () => {
    const run = (letter: string, chunk: string, verdict: string, turn: string, file: string): RunToDiff => {
      const hand = new Hand(letter)
      const step = hand.step()
      hand.emit("step_started", step, hand.root, { name: "docs", kind: "retrieval" })
      hand.emit("retrieval_executed", step, hand.root, {
        retriever_id: "docs",
        query_text_ref: hand.text("dates"),
        candidate_list_ref: hand.text(JSON.stringify([{ rank: 0, chunk_id: chunk }])),
        call_signature_hash: textHash("dates"),
        candidate_count: 1,
        filters: {},
      })
      hand.emit("step_ended", step, hand.root, { status: "success", latency_ms: 1 })
      const work = hand.step()
      hand.emit("step_started", work, hand.root, { name: "work" })
      hand.emit("validator_decision", work, hand.root, {
        validator_name: "schema",
        validator_version: null,
        decision: verdict,
        reason_ref: null,
      })
      hand.emit("input_received", work, hand.root, {
        input_channels: ["chat"],
        input_hash: hand.text(turn),
        input_ref: hand.text(turn),
        input_policy_labels: [],
      })
      hand.emit("artifact_recorded", work, hand.root, {
        artifact_id: "1",
        artifact_type: "file_edit",
        summary: "s",
        content_ref: hand.text(file),
        hash: textHash(file),
        size_bytes: 1,
        path: "src/a.ts",
      })
      hand.emit("step_ended", work, hand.root, { status: "success", latency_ms: 1 })
      return hand.done()
    }
    const same = ["c1", "pass", "go on", "x = 1"] as const
    const others = ["c2", "fail", "stop", "x = 2"] as const
    const kinds = ["retrieval", "verdict", "input", "artifact"]
    const tiers = ["T2", "T2", "T2", "T3"]
    expect(diffRuns(run("A", ...same), run("B", ...same)).verdict).toBe("same")
    kinds.forEach((kind, changed) => {
      const values = same.map((value, index) => (index === changed ? others[index]! : value)) as [
        string,
        string,
        string,
        string,
      ]
      const diff = diffRuns(run("A", ...same), run("B", ...values))
      const found = diff.items.filter(({ cause }) => cause !== null)
      expect(found.map((item) => [item.kind, item.tiers, item.a?.n])).toEqual([
        [kind, [tiers[changed]], changed === 0 ? 2 : 3],
      ])
      if (kind === "retrieval") expect(found[0]!.payloads![0]!.ops.map(({ op }) => op)).toEqual(["remove", "add"])
      if (kind === "artifact") expect(diff.decisive).toMatchObject({ effect: "write" })
    })
  })

  test("[P-09] a run cut short in mid-call is compared up to where it stands", () => {
    const whole = new Hand("A")
    whole.model("one", "main")()
    whole.model("two", "main")()
    const cut = new Hand("B")
    cut.model("one", "main")()
    cut.model("two", "main")
    const diff = diffRuns(whole.done(), { ...cut.done(), events: cut.events.slice(0, -1) })
    expect(diff.items[diff.first!]).toMatchObject({ fields: ["status"], b: { status: "open" } })
    expect(diff.outcome).toMatchObject({ differs: true })
  })

  test("[P-09] a tree as deep as it is long is walked, not recursed into", () => {
    const deep = (letter: string, last: string): RunToDiff => {
      const hand = new Hand(letter)
      let parent = hand.root
      for (let i = 0; i < 3_000; i++) {
        const step = hand.step()
        hand.emit("step_started", step, parent, { name: `level ${i === 2_999 ? last : i}` })
        parent = step
      }
      return hand.done()
    }
    const diff = diffRuns(deep("A", "end"), deep("B", "stop"), { payloads: 0 })
    expect(diff.items[diff.first!]!.a?.n ?? diff.items[diff.first!]!.b?.n).toBe(3_001)
  })
})
