import { z } from "zod"
import { BodyRef } from "../body-ref.js"
import { added, defineEvent, within } from "../define-event.js"
import { Count, Digest, LatencyMs, Name, Status, Version } from "../fields.js"

export const RetrievalExecuted = defineEvent("retrieval_executed", {
  since: "1.0",
  role: within,
  payload: {
    retriever_id: Name,
    retriever_version: Version.nullable(),
    query_text_ref: BodyRef,
    top_k: Count.nullable(),
    filters: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    candidate_count: Count,
    candidate_list_ref: BodyRef,
    call_signature_hash: added(Digest.optional()),
    latency_ms: added(LatencyMs.optional()),
    status: added(Status.optional()),
  },
})

/** One line of the body behind `candidate_list_ref`. */
export const Candidate = z.strictObject({
  rank: Count,
  /** Null where the retriever gave it none. */
  chunk_id: Name.nullable(),
  document_id: Name.nullable(),
  score: z.number().nullable(),
  source_uri: z.string().max(4096).nullable(),
  content_ref: BodyRef.nullable(),
})

export const CandidateList = z.array(Candidate)
