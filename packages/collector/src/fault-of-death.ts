import {
  type ArtifactRef,
  bodyHash,
  type Event,
  faultEvidence,
  PARTIAL_ANSWER,
  SNAPSHOT_FOLDER,
  SNAPSHOT_SUMMARIES,
  type SnapshotKind,
  snapshotKindOf,
  summarizeText,
} from "@orangebox/contract"
import { isAbsent, type OpenRun, type TraceStore } from "@orangebox/store"
import type { BatchBuilder } from "./batch-builder.js"
import { annotationEnvelope, type Ended, placeIn } from "./crash-annotation.js"

/**
 * A process that died without a word could not raise the fault its death is. Said here for every run that looks for faults: with what its spool
 * held, what its journal has, and the answer as far as it came; and in a revision of the manifests concerned.
 */
export async function faultOfDeath(run: OpenRun, ended: Ended, store: TraceStore, batch: BatchBuilder): Promise<void> {
  const annotations = await store.annotationsOf(run.runId)
  const spooled = annotations.filter(isSnapshot)
  const [started] = (await store.eventsOf(run.runId, { limit: 1 })).events
  if (spooled.length === 0 && !looksForFaults(started)) return
  const death = new Death(run, ended, store, batch)
  const own = await allEvents(store, run.runId)
  const artifacts = spooled.length > 0 ? [...spooled] : death.nameKept(own)
  const answers = await death.keepPartialAnswers(artifacts)
  artifacts.push(...answers.artifacts)
  const { missing } = answers
  const fault = {
    trigger: "system_error",
    detail: summarizeText(`${ended.evidence}; the run was left open`),
  } as const
  const ids = artifacts.map(({ payload }) => payload.artifact_id)
  const wasSent = own.some(({ event_type, artifact_refs }) =>
    artifact_refs.some(({ artifact_type }) => snapshotKindOf(event_type, artifact_type) !== undefined),
  )
  death.say("fault", "fault", run.lastOpenStepId, {
    ...fault,
    ...faultEvidence(ids, wasSent ? "not_stored" : "nothing_sent"),
    ...(missing.length > 0 ? { missing } : {}),
  })
  await death.reviseManifests(own, { ...fault, missing, artifacts: artifacts.map(artifactFacts) }, artifacts)
}

type Artifact = Event<"artifact_recorded">

const isSnapshot = (event: Event): event is Artifact =>
  event.event_type === "artifact_recorded" && Object.hasOwn(SNAPSHOT_SUMMARIES, event.payload.artifact_type)

function looksForFaults(started: Event | undefined): boolean {
  if (started?.event_type !== "run_started") return false
  return started.payload.audit === "required" || started.payload.kept_bodies !== undefined
}

async function allEvents(store: TraceStore, runId: string): Promise<Event[]> {
  const events: Event[] = []
  for (let from: number | undefined = 0; from !== undefined; ) {
    const page: Awaited<ReturnType<TraceStore["eventsOf"]>> = await store.eventsOf(runId, { from })
    events.push(...page.events)
    from = page.nextFrom
  }
  return events
}

/** What is said about one run that a death left open. */
class Death {
  readonly #run: OpenRun
  readonly #ended: Ended
  readonly #store: TraceStore
  readonly #batch: BatchBuilder

  constructor(run: OpenRun, ended: Ended, store: TraceStore, batch: BatchBuilder) {
    this.#run = run
    this.#ended = ended
    this.#store = store
    this.#batch = batch
  }

  say<T extends "fault" | "artifact_recorded" | "context_manifest">(
    type: T,
    name: string,
    stepId: string | null,
    payload: Event<T>["payload"],
    artifact_refs: readonly ArtifactRef[] = [],
  ): Event<T> {
    const { writerId } = this.#ended
    const event = {
      ...annotationEnvelope(this.#run.lastAtMs, `${name} ${writerId} ${this.#run.runId}`),
      ...placeIn(this.#run),
      step_id: stepId,
      artifact_refs,
      event_type: type,
      payload,
    } as unknown as Event<T>
    this.#batch.addEvent(event as Event, writerId)
    return event
  }

  /** Where every body is kept anyway, or none ever is, the artifacts name those of the last call and what came after it. */
  nameKept(own: readonly Event[]): Artifact[] {
    const bodies = own.flatMap((event) =>
      event.artifact_refs.flatMap((ref) => {
        const kind = snapshotKindOf(event.event_type, ref.artifact_type)
        // Under `hashed` a snapshot is the hash and the size, and says so.
        const isThere = ref.absent === undefined || ref.absent === "hashed"
        return kind === undefined || !isThere ? [] : [{ kind, ref, stepId: event.step_id }]
      }),
    )
    const last = bodies.findLastIndex(({ kind }) => kind === "prompt_snapshot")
    const first = bodies.findLastIndex(({ kind }, at) => at < last && kind !== "prompt_snapshot") + 1
    return bodies.slice(first).map((body, at) => this.#artifact(body, at + 1, SNAPSHOT_FOLDER))
  }

  /** An answer that was still coming has no end and so no hash; as far as it came, it is an artifact like the others. */
  async keepPartialAnswers(known: readonly Artifact[]): Promise<{ artifacts: Artifact[]; missing: string[] }> {
    const folder = /^(.*)\/[^/]*\/[^/]*$/s.exec(known[0]?.payload.path ?? "")?.[1] ?? SNAPSHOT_FOLDER
    const numbers = known.map(({ payload }) => Number(/\d+$/.exec(payload.artifact_id)?.[0] ?? 0))
    let no = Math.max(0, ...numbers)
    const artifacts: Artifact[] = []
    const missing: string[] = []
    for (const { streamId, stepId, mime, withheldBytes } of await this.#store.partialStreamsOf(this.#run.runId)) {
      const bytes = await this.#store.readPartialStream(streamId)
      if (bytes === undefined || bytes.length === 0) {
        if (withheldBytes > 0) missing.push(`answer: ${withheldBytes} bytes had come, not yet searched for secrets`)
        continue
      }
      const ref: ArtifactRef = {
        artifact_hash: bodyHash(bytes),
        artifact_type: "answer_snapshot",
        byte_size: bytes.length,
        content_encoding: "identity",
        mime_type: mime ?? "text/event-stream",
        // Streams are searched before they are written.
        redaction_profile: known[0]?.artifact_refs[0]?.redaction_profile ?? "none",
      }
      this.#batch.addBody({ hash: ref.artifact_hash, bytes, byteSize: bytes.length, mime: ref.mime_type })
      const answer = { kind: "answer_snapshot", ref, stepId, summary: PARTIAL_ANSWER, withheldBytes } as const
      artifacts.push(this.#artifact(answer, ++no, folder))
    }
    return { artifacts, missing }
  }

  #artifact(
    body: {
      readonly kind: SnapshotKind
      readonly ref: ArtifactRef
      readonly stepId: string | null
      readonly summary?: string
      readonly withheldBytes?: number
    },
    no: number,
    folder: string,
  ): Artifact {
    const { kind, ref, stepId, summary = SNAPSHOT_SUMMARIES[kind], withheldBytes = 0 } = body
    const artifact_id = `${kind}-${no}`
    const ending = ref.mime_type.startsWith("application/json") ? "json" : "txt"
    return this.say(
      "artifact_recorded",
      artifact_id,
      stepId,
      {
        artifact_id,
        artifact_type: kind,
        summary,
        content_ref: ref.artifact_hash,
        hash: ref.artifact_hash,
        size_bytes: ref.byte_size,
        ...(withheldBytes > 0 ? { withheld_bytes: withheldBytes } : {}),
        path: `${folder}/${this.#run.runId}/${artifact_id}.${ending}`,
      },
      [{ ...ref, artifact_type: kind }],
    )
  }

  /** The manifest of every step that something was stored of, or that stands around one: what it said, and the fault. */
  async reviseManifests(own: readonly Event[], fault: object, artifacts: readonly Artifact[]): Promise<void> {
    const concerned = await this.#stepsAround(artifacts)
    const latest = new Map<string, Event<"context_manifest">>()
    for (const event of own) {
      if (event.event_type !== "context_manifest") continue
      const before = latest.get(event.payload.snapshot_id)
      // A revision may stand in the step of the fault; the manifest is that of the step that said it first.
      latest.set(event.payload.snapshot_id, before ? { ...event, step_id: before.step_id } : event)
    }
    for (const event of latest.values()) {
      if (event.step_id !== null && concerned.has(event.step_id)) await this.#revise(event, fault)
    }
  }

  async #stepsAround(artifacts: readonly Artifact[]): Promise<ReadonlySet<string>> {
    const steps = new Map((await this.#store.stepsOf(this.#run.runId)).map((step) => [step.stepId, step.parentStepId]))
    const around = new Set<string>()
    for (const { step_id } of artifacts) {
      for (let at = step_id; at !== null && !around.has(at); at = steps.get(at) ?? null) around.add(at)
    }
    return around
  }

  async #revise(before: Event<"context_manifest">, fault: object): Promise<void> {
    const manifest = await this.#manifestIn(before.payload.manifest_ref)
    const [ref] = before.artifact_refs
    if (manifest === undefined || ref === undefined) return
    const revision = before.payload.revision + 1
    const faults: readonly unknown[] = Array.isArray(manifest["faults"]) ? manifest["faults"] : []
    const bytes = Buffer.from(JSON.stringify({ ...manifest, revision, faults: [...faults, fault] }))
    const manifest_ref = bodyHash(bytes)
    this.#batch.addBody({ hash: manifest_ref, bytes, byteSize: bytes.length, mime: ref.mime_type })
    const payload = { ...before.payload, manifest_ref, revision }
    const refs = [{ ...ref, artifact_hash: manifest_ref, byte_size: bytes.length }]
    this.say("context_manifest", `context_manifest ${before.payload.snapshot_id}`, before.step_id, payload, refs)
  }

  async #manifestIn(hash: string): Promise<Record<string, unknown> | undefined> {
    const body = await this.#store.readBody(hash)
    if (isAbsent(body)) return undefined
    try {
      return JSON.parse(Buffer.from(body.bytes).toString("utf8")) as Record<string, unknown>
    } catch {
      return undefined
    }
  }
}

/** A stored body as manifests name it. */
const artifactFacts = ({ payload, timestamp_utc }: Artifact) => ({
  artifact_id: payload.artifact_id,
  path: payload.path,
  hash: payload.hash,
  size_bytes: payload.size_bytes,
  created_at: timestamp_utc,
})
