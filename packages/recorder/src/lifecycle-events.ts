import { type EventType, MAX_SUMMARY, type PayloadOf, summarizeText, textHash } from "@orangebox/contract"
import { BodiesOfEvent } from "./bodies-of-event.js"
import type { EventExtras } from "./event-builder.js"
import type { RunState } from "./run-state.js"
import { signatureOfRetrieval } from "./signature.js"
import type {
  AssembledPrompt,
  DecisionMade,
  FinalOutputGiven,
  MadeArtifact,
  ReceivedInput,
  RenderedPrompt,
  RepairMade,
  RetrievalCall,
  RetrievedChunk,
  SafetyDecisionMade,
  ValidatorDecisionMade,
} from "./step.js"

/** What an application says about a step, as the contract wants it: one method for each lifecycle event. */
export abstract class LifecycleEvents {
  abstract readonly run: RunState
  abstract emit<T extends EventType>(type: T, payload: PayloadOf<T>, extras?: EventExtras): void

  inputReceived(input: ReceivedInput): void {
    const bodies = new BodiesOfEvent(this.run.builder, "input_received")
    const body = bodies.add("input", input.value ?? null)!
    this.emit(
      "input_received",
      {
        input_channels: input.channels as string[],
        input_hash: body.hash,
        input_policy_labels: (input.policyLabels ?? []) as string[],
        input_ref: body.hash,
        ...summaryOf("input_summary", () => summarizeText(body.text())),
      },
      bodies,
    )
  }

  promptRendered(prompt: RenderedPrompt): void {
    const bodies = new BodiesOfEvent(this.run.builder, "prompt_rendered")
    const system = bodies.ref("system_message", prompt.system)
    this.emit(
      "prompt_rendered",
      {
        prompt_template_id: prompt.templateId ?? null,
        prompt_template_version: prompt.templateVersion ?? null,
        prompt_variables_ref: bodies.ref("prompt_variables", prompt.variables) ?? null,
        rendered_prompt_ref: bodies.ref("rendered_prompt", prompt.prompt ?? null)!,
        ...(system ? { system_message_ref: system } : {}),
      },
      bodies,
    )
  }

  promptAssembled(prompt: AssembledPrompt): void {
    const bodies = new BodiesOfEvent(this.run.builder, "prompt_assembled")
    const segments = prompt.segments.map((segment) => ({
      contributor: segment.contributor,
      kind: segment.kind,
      role: segment.role ?? null,
      length: segment.content.length,
      ...(segment.tokens === undefined ? {} : { tokens: segment.tokens }),
      segment_hash: textHash(this.run.builder.capture.comparable(segment.content)),
      content_ref: bodies.ref("segment", segment.content)!,
    }))
    this.emit(
      "prompt_assembled",
      {
        segments,
        total_length: segments.reduce((sum, segment) => sum + segment.length, 0),
        ...(prompt.tokenBudget === undefined ? {} : { token_budget: prompt.tokenBudget }),
        ...(prompt.excludedCount === undefined ? {} : { excluded_count: prompt.excludedCount }),
      },
      bodies,
    )
  }

  protected retrievalExecuted(
    call: RetrievalCall,
    chunks: readonly RetrievedChunk[],
    latencyMs: number,
    status: "success" | "error" = "success",
  ): void {
    const bodies = new BodiesOfEvent(this.run.builder, "retrieval_executed")
    const candidates = Array.from(chunks ?? [], (chunk, index) => ({
      rank: index,
      chunk_id: chunk.chunkId,
      document_id: chunk.documentId ?? null,
      score: chunk.score ?? null,
      source_uri: chunk.sourceUri ?? null,
      content_ref: bodies.ref("chunk", chunk.content) ?? null,
    }))
    const filters = call.filters ?? {}
    const queryRef = bodies.ref("query_text", call.query ?? "")!
    this.emit(
      "retrieval_executed",
      {
        retriever_id: call.retriever,
        retriever_version: call.version ?? null,
        query_text_ref: queryRef,
        top_k: call.topK ?? null,
        filters,
        candidate_count: candidates.length,
        candidate_list_ref: bodies.ref("candidate_list", candidates)!,
        call_signature_hash: signatureOfRetrieval({ ...call, query: this.run.builder.capture.comparable(call.query) }),
        latency_ms: latencyMs,
        ...(status === "error" ? { status } : {}),
      },
      bodies,
    )
  }

  validatorDecision(made: ValidatorDecisionMade): void {
    const bodies = new BodiesOfEvent(this.run.builder, "validator_decision")
    this.emit(
      "validator_decision",
      {
        validator_name: made.name,
        validator_version: made.version ?? null,
        decision: made.decision,
        reason_ref: bodies.ref("reason", made.reason) ?? null,
      },
      bodies,
    )
  }

  safetyDecision(made: SafetyDecisionMade): void {
    const bodies = new BodiesOfEvent(this.run.builder, "safety_decision")
    this.emit(
      "safety_decision",
      {
        policy_name: made.policy,
        policy_version: made.version ?? null,
        decision: made.decision,
        reason_ref: bodies.ref("reason", made.reason) ?? null,
      },
      bodies,
    )
  }

  finalOutput(output: FinalOutputGiven): void {
    const bodies = new BodiesOfEvent(this.run.builder, "final_output")
    const value = bodies.add("output", output.value ?? null)!
    const citations = bodies.ref("citations", output.citations)
    this.emit(
      "final_output",
      {
        output_ref: value.hash,
        ...(citations ? { citations_ref: citations } : {}),
        response_channel: output.channel ?? null,
        ...summaryOf("output_summary", () => summarizeText(value.text())),
      },
      bodies,
    )
  }

  repair(made: RepairMade): void {
    const bodies = new BodiesOfEvent(this.run.builder, "repair")
    const after = bodies.ref("after", made.after)
    this.emit(
      "repair",
      {
        kind: made.kind,
        before_ref: bodies.ref("before", made.before ?? null)!,
        after_ref: after ?? null,
        outcome: after ? "repaired" : "failed",
        ...(made.attempt === undefined ? {} : { attempt: made.attempt }),
        ...(made.maxAttempts === undefined ? {} : { max_attempts: made.maxAttempts }),
        ...(made.reason === undefined
          ? {}
          : { reason: typeof made.reason === "string" ? made.reason.slice(0, MAX_SUMMARY) : made.reason }),
      },
      bodies,
    )
  }

  decide(made: DecisionMade): void {
    const bodies = new BodiesOfEvent(this.run.builder, "decision")
    const detail = bodies.ref("decision", made.detail)
    const said = String(made.summary)
    this.emit(
      "decision",
      {
        action_type: made.action,
        // Where no content is kept there is no summary; the whole text then goes on to become a digest.
        action_summary: this.run.builder.summarize(said) || said,
        ...(detail ? { decision_ref: detail } : {}),
      },
      bodies,
    )
  }

  artifact(made: MadeArtifact): void {
    const bodies = new BodiesOfEvent(this.run.builder, "artifact_recorded")
    const content = bodies.ref(made.type, made.content ?? null)!
    this.emit(
      "artifact_recorded",
      {
        artifact_id: made.id,
        artifact_type: made.type,
        summary: made.summary,
        content_ref: content,
        hash: content,
        size_bytes: bodies.refs[0]!.byte_size,
        path: made.path ?? null,
        ...(made.linesAdded === undefined ? {} : { lines_added: made.linesAdded }),
        ...(made.linesRemoved === undefined ? {} : { lines_removed: made.linesRemoved }),
        ...(made.exitCode === undefined ? {} : { exit_code: made.exitCode }),
      },
      bodies,
    )
  }
}

/** A summary field when there is something to summarise; unreadable values have none. */
export function summaryOf<K extends string>(field: K, make: () => string): { [F in K]?: string } {
  try {
    const text = make()
    return text === "" ? {} : ({ [field]: text } as { [F in K]?: string })
  } catch {
    return {}
  }
}
