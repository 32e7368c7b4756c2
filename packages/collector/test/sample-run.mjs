// Events as a recorder would write them, for tests and for the processes that tests start. Plain JavaScript, so that both can.
import { bodyHash, randomIds, SCHEMA_VERSION } from "@orangebox/contract"

const ids = randomIds()

/** One run of one writer: numbers its events itself, and knows what it has said. */
export class SampleRun {
  runId = ids.run(Date.now())
  traceId = ids.trace()
  rootId = ids.step()
  #sequenceNo = 0

  /** @param {Pick<import("@orangebox/journal").Journal, "append">} journal */
  constructor(journal) {
    this.journal = journal
  }

  start() {
    return this.append("run_started", this.rootId, null, {
      app_id: "sample",
      environment: "local",
      entrypoint_name: "sample",
      user_session_ref: null,
      input_summary: "a question",
      capture_mode: "full",
    })
  }

  /** @param {string} stepId */
  openStep(stepId = ids.step(), name = "work") {
    this.append("step_started", stepId, this.rootId, { name })
    return stepId
  }

  /** @param {string} stepId */
  closeStep(stepId) {
    return this.append("step_ended", stepId, this.rootId, { status: "success", latency_ms: 1 })
  }

  /** @param {string} message @param {readonly Uint8Array[]} bodies */
  log(message, bodies = []) {
    const refs = bodies.map((bytes) => ref(bodyHash(bytes), bytes.length))
    const payload = { level: "info", message, ...(refs[0] ? { body_ref: refs[0].artifact_hash } : {}) }
    return this.append(
      "log",
      this.rootId,
      null,
      payload,
      refs,
      bodies.map((bytes) => ({ hash: bodyHash(bytes), bytes })),
    )
  }

  /** Finishes a stream as the body of a log event. @param {import("@orangebox/journal").StreamWriter} stream */
  logStream(stream) {
    const { hash, byteSize } = stream.finish()
    const payload = { level: "info", message: "streamed", body_ref: hash }
    return this.append(
      "log",
      this.rootId,
      null,
      payload,
      [ref(hash, byteSize)],
      [{ hash, byteSize, streamId: stream.id }],
    )
  }

  complete() {
    return this.append("run_completed", this.rootId, null, {
      status: "success",
      total_steps: null,
      total_latency_ms: 1,
    })
  }

  /** @returns {{ written: boolean, event: any }} */
  append(type, stepId, parentStepId, payload, refs = [], bodies = []) {
    const event = {
      schema_version: SCHEMA_VERSION,
      event_id: ids.event(Date.now()),
      trace_id: this.traceId,
      run_id: this.runId,
      step_id: stepId,
      parent_step_id: parentStepId,
      sequence_no: this.#sequenceNo++,
      event_type: type,
      timestamp_utc: new Date().toISOString(),
      mono_us: Math.round(performance.now() * 1000),
      actor_type: "sdk",
      determinism_mode: "live",
      artifact_refs: refs,
      redaction_status: "not_required",
      source: "sample",
      payload,
    }
    const line = { json: JSON.stringify(event), runId: this.runId, sequenceNo: event.sequence_no, bodies }
    return { written: this.journal.append(line).written, event }
  }
}

/** @returns {any} */
function ref(hash, byteSize) {
  return {
    artifact_hash: hash,
    artifact_type: "body",
    byte_size: byteSize,
    content_encoding: "identity",
    mime_type: "text/plain",
    redaction_profile: "none",
  }
}
