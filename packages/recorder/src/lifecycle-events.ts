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
    this.#say("input_received", (bodies) => {
      const body = bodies.add("input", input.value ?? null)!
      return {
        input_channels: input.channels as string[],
        input_hash: body.hash,
        input_policy_labels: (input.policyLabels ?? []) as string[],
        input_ref: body.hash,
        ...summaryOf("input_summary", () => summarizeText(body.text())),
      }
    })
  }

  promptRendered(prompt: RenderedPrompt): void {
    this.#say("prompt_rendered", (bodies) => ({
      prompt_template_id: prompt.templateId ?? null,
      prompt_template_version: prompt.templateVersion ?? null,
      prompt_variables_ref: bodies.ref("prompt_variables", prompt.variables) ?? null,
      rendered_prompt_ref: bodies.ref("rendered_prompt", prompt.prompt ?? null)!,
      system_message_ref: bodies.ref("system_message", prompt.system),
    }))
  }

  promptAssembled(prompt: AssembledPrompt): void {
    this.#say("prompt_assembled", (bodies) => ({
      segments: prompt.segments.map((segment) => ({
        contributor: segment.contributor,
        kind: segment.kind,
        role: segment.role ?? null,
        length: segment.content.length,
        tokens: segment.tokens,
        segment_hash: textHash(this.run.builder.capture.comparable(segment.content)),
        content_ref: bodies.ref("segment", segment.content)!,
      })),
      total_length: prompt.segments.reduce((sum, { content }) => sum + content.length, 0),
      token_budget: prompt.tokenBudget,
      excluded_count: prompt.excludedCount,
    }))
  }

  protected retrievalExecuted(
    call: RetrievalCall,
    chunks: readonly RetrievedChunk[],
    latencyMs: number,
    status?: "error",
  ): void {
    this.#say("retrieval_executed", (bodies) => {
      const candidates = Array.from(chunks ?? [], (chunk, index) => ({
        rank: index,
        // Who gives a chunk no id has none to give: it is known by its place.
        chunk_id: typeof chunk?.chunkId === "string" && chunk.chunkId !== "" ? chunk.chunkId : null,
        document_id: chunk?.documentId ?? null,
        score: chunk?.score ?? null,
        source_uri: chunk?.sourceUri ?? null,
        content_ref: bodies.ref("chunk", chunk?.content) ?? null,
      }))
      const query = this.run.builder.capture.comparable(call.query)
      return {
        retriever_id: call.retriever,
        retriever_version: call.version ?? null,
        query_text_ref: bodies.ref("query_text", call.query ?? "")!,
        top_k: call.topK ?? null,
        filters: call.filters ?? {},
        candidate_count: candidates.length,
        candidate_list_ref: bodies.ref("candidate_list", candidates)!,
        call_signature_hash: signatureOfRetrieval({ ...call, query }),
        latency_ms: latencyMs,
        status,
      }
    })
  }

  validatorDecision(made: ValidatorDecisionMade): void {
    this.#say("validator_decision", (bodies) => ({
      validator_name: made.name,
      validator_version: made.version ?? null,
      decision: made.decision,
      reason_ref: bodies.ref("reason", made.reason) ?? null,
    }))
  }

  safetyDecision(made: SafetyDecisionMade): void {
    this.#say("safety_decision", (bodies) => ({
      policy_name: made.policy,
      policy_version: made.version ?? null,
      decision: made.decision,
      reason_ref: bodies.ref("reason", made.reason) ?? null,
    }))
  }

  finalOutput(output: FinalOutputGiven): void {
    this.#say("final_output", (bodies) => {
      const value = bodies.add("output", output.value ?? null)!
      return {
        output_ref: value.hash,
        citations_ref: bodies.ref("citations", output.citations),
        response_channel: output.channel ?? null,
        ...summaryOf("output_summary", () => summarizeText(value.text())),
      }
    })
  }

  repair(made: RepairMade): void {
    this.#say("repair", (bodies) => {
      const after = bodies.ref("after", made.after)
      return {
        kind: made.kind,
        before_ref: bodies.ref("before", made.before ?? null)!,
        after_ref: after ?? null,
        outcome: after ? "repaired" : "failed",
        attempt: made.attempt,
        max_attempts: made.maxAttempts,
        reason:
          typeof made.reason === "string" ? this.run.builder.capture.beginning(made.reason, MAX_SUMMARY) : made.reason,
      }
    })
  }

  decide(made: DecisionMade): void {
    const said = String(made.summary)
    this.#say("decision", (bodies) => ({
      action_type: made.action,
      // Where no content is kept there is no summary; the whole text then goes on to become a digest.
      action_summary: this.run.builder.summarize(said) || said,
      decision_ref: bodies.ref("decision", made.detail),
    }))
  }

  artifact(made: MadeArtifact): void {
    this.#say("artifact_recorded", (bodies) => {
      const content = bodies.ref(made.type, made.content ?? null)!
      return {
        artifact_id: made.id,
        artifact_type: made.type,
        summary: made.summary,
        content_ref: content,
        hash: content,
        size_bytes: bodies.refs[0]!.byte_size,
        path: this.#pathOf(made),
        lines_added: made.linesAdded,
        lines_removed: made.linesRemoved,
        net_lines_added: made.netLinesAdded,
        net_lines_removed: made.netLinesRemoved,
        exit_code: made.exitCode,
      }
    })
  }

  /** Where no text is kept, the digest of a changed file's path still joins what tools were told with what the work tree shows. */
  #pathOf({ path, type }: MadeArtifact): string | null {
    const { capture } = this.run.builder
    const isChange = type === "diff" || type === "file_edit"
    return (capture.mode === "hashed" && isChange && path ? capture.digestWord(path) : path) ?? null
  }

  /** One event with the bodies that its payload names. */
  #say<T extends EventType>(type: T, payloadWith: (bodies: BodiesOfEvent) => PayloadOf<T>): void {
    const bodies = new BodiesOfEvent(this.run.builder, type)
    this.emit(type, payloadWith(bodies), bodies)
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
