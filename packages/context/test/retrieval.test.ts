import {
  bm25Retriever,
  buildLlmContext,
  type CompileInputs,
  chunksOfFolder,
  compile,
  defineStages,
  type Retriever,
  STEP_AWARENESS_PRESET,
  type Stage,
} from "@orangebox/context"
import { describe, expect, test } from "vitest"
import { diskReader, setupOver, workspace } from "./workspace.js"

const stage: Stage = defineStages({
  name: "plain",
  version: "1",
  stages: [{ id: "answer", name: "answer", mission: "Answer the question." }],
}).stage("answer")
const inputs = (more: Partial<CompileInputs>): CompileInputs => ({
  runId: "run_1",
  generatedAt: "2026-01-01T00:00:00Z",
  ...more,
})
const fixed = (...found: [id: string, score: number, text?: string][]): Retriever => ({
  id: "fixed",
  version: "1",
  retrieve: () => found.map(([id, score, text]) => ({ chunk: { id, text: text ?? `text of ${id}` }, score })),
})

describe("BM25", () => {
  const chunks = [
    { id: "dates", text: "Leap years: February has 29 days in a leap year." },
    { id: "zones", text: "Time zones shift dates by hours." },
    { id: "birds", text: "Swifts sleep in the air." },
  ]

  test("[B-08] chunks that share rare words with the query rank first, others are no candidates", () => {
    const { manifest } = compile(stage, inputs({ query: "leap year dates", retrievers: [bm25Retriever({ chunks })] }))
    expect(manifest.candidate_chunk_ids.map(({ chunk_id }) => chunk_id)).toEqual(["dates", "zones"])
    expect(manifest.candidate_chunk_ids[0]!.score).toBe(1)
    expect(manifest.selected_chunk_ids).toEqual(["dates", "zones"])
    expect(manifest.retrieval_query).toBe("leap year dates")
    expect(manifest.retrievers).toEqual([{ id: "bm25", version: "1.0.0" }])
  })

  test("[B-08] the same scores come out however the query's words are ordered", () => {
    const scores = (query: string) => bm25Retriever({ chunks }).retrieve(query)
    expect(scores("dates leap hours")).toEqual(scores("hours dates leap"))
  })

  test("[B-08] topK keeps the best", () => {
    const found = bm25Retriever({ chunks, topK: 1 }).retrieve("leap dates hours zones")
    expect(found.map(({ chunk }) => chunk.id)).toEqual(["zones"])
  })

  test("[B-06] [B-08] a folder is read through the reader; files behind used chunks are in the provenance", () => {
    const reader = diskReader(
      workspace({
        "docs/leap.md": "Leap years\n\nFebruary has 29 days.",
        "docs/deep/birds.md": "Swifts sleep in the air.",
        "docs/logo.png": new Uint8Array([0x89, 0xff, 0xfe]),
      }),
    )
    const { chunks: found, problems } = chunksOfFolder({ reader, folder: "docs" })
    expect(found.map(({ id }) => id)).toEqual(["docs/deep/birds.md#L1-L1", "docs/leap.md#L1-L3"])
    expect(problems).toMatchObject([{ code: "file_not_text", subject: "docs/logo.png" }])
    const { bundle, manifest } = compile(
      stage,
      inputs({ query: "february", retrievers: [bm25Retriever({ chunks: found })] }),
    )
    expect(bundle.provenance.map(({ path }) => path)).toEqual(["docs/leap.md"])
    expect(manifest.inclusion_log.at(-1)).toMatchObject({ source_ref: "file:docs/leap.md#L1-L3" })
  })

  test("[B-08] long files are cut at whole lines", () => {
    const text = Array.from({ length: 10 }, (_, i) => `line ${i} has five words`).join("\n")
    const reader = diskReader(workspace({ "docs/a.txt": text }))
    const { chunks: found } = chunksOfFolder({ reader, folder: "docs", wordsPerChunk: 20 })
    expect(found.map(({ id }) => id.split("#")[1])).toEqual(["L1-L4", "L5-L8", "L9-L10"])
    expect(found.map((chunk) => chunk.text).join("\n")).toBe(text)
  })
})

describe("ranking", () => {
  test("[B-08] equal scores go by id, whatever order the retriever answers in", () => {
    const order = (...ids: string[]) =>
      compile(stage, inputs({ retrievers: [fixed(...ids.map((id): [string, number] => [id, 1]))] })).prompt
    expect(order("b", "a", "c")).toBe(order("c", "b", "a"))
  })

  test("[B-08] scores of several retrievers are made comparable", () => {
    const small = { ...fixed(["s1", 0.9], ["s2", 0.1]), id: "small" }
    const large = { ...fixed(["l1", 900], ["l2", 850]), id: "large" }
    const { manifest } = compile(stage, inputs({ retrievers: [small, large] }))
    expect(manifest.selected_chunk_ids).toEqual(["l1", "s1", "l2", "s2"])
  })

  test("[B-08] a reranker of one's own decides, and is named with its version", () => {
    const reranker = {
      model: "backwards",
      version: "7",
      rerank: (_: string, found: readonly { score: number }[]) => found.map(({ score }) => -score),
    }
    const { manifest } = compile(stage, inputs({ retrievers: [fixed(["a", 3], ["b", 2])], reranker }))
    expect(manifest).toMatchObject({
      reranker_model: "backwards",
      reranker_version: "7",
      candidate_chunk_ids: [
        { chunk_id: "b", score: -2 },
        { chunk_id: "a", score: -3 },
      ],
    })
  })

  test.each([
    ["answers too few", () => [1]],
    ["answers NaN", () => [1, Number.NaN]],
    [
      "throws",
      () => {
        throw new Error("out of memory")
      },
    ],
  ])("[B-08] a reranker that %s is an error, not another order", (_, rerank) => {
    const reranker = { model: "bad", version: "1", rerank }
    expect(() => compile(stage, inputs({ retrievers: [fixed(["a", 3], ["b", 2])], reranker }))).toThrow(
      expect.objectContaining({ code: "CONTEXT_RERANKER", where: "reranker" }),
    )
  })

  test("[M-02] chunks below the threshold are logged with their score", () => {
    const { manifest } = compile(stage, inputs({ retrievers: [fixed(["a", 10], ["b", 2])], minScore: 0.5 }))
    expect(manifest.exclusion_log).toEqual([
      {
        item_id: "b",
        item_type: "evidence",
        source_ref: "chunk:b",
        excluded_reason: "score_below_threshold",
        score: 0.2,
        threshold: 0.5,
      },
    ])
  })

  test("[M-02] a chunk that comes twice, by id or by text, is used once and logged as duplicate", () => {
    const retriever = fixed(["a", 3], ["a", 2], ["copy", 1, "text of a"], ["a", 1])
    const { manifest, bundle } = compile(stage, inputs({ retrievers: [retriever] }))
    expect(bundle.context.evidence!.map(({ chunk_id }) => chunk_id)).toEqual(["a"])
    expect(
      manifest.exclusion_log.map(({ item_id, excluded_reason, duplicate_of }) => [
        item_id,
        excluded_reason,
        duplicate_of,
      ]),
    ).toEqual([
      ["a~2", "duplicate", "a"],
      ["a~3", "duplicate", "a"],
      ["copy", "duplicate", "a"],
    ])
    expect(manifest.candidate_chunk_ids).toHaveLength(4)
  })

  test("[B-08] a retriever that throws or answers nonsense costs its own candidates and is logged", () => {
    const failing: Retriever = {
      id: "failing",
      version: "2",
      retrieve: () => {
        throw new RangeError("index is being rebuilt")
      },
    }
    const nonsense: Retriever = {
      id: "nonsense",
      version: "1",
      retrieve: () =>
        JSON.parse('[{"chunk":{"id":""},"score":1},null,{"chunk":{"id":"b","text":"t","type":"rumour"},"score":1}]'),
    }
    const { manifest, problems, prompt } = compile(stage, inputs({ retrievers: [failing, nonsense, fixed(["a", 1])] }))
    expect(prompt).toContain("text of a")
    expect(manifest.exclusion_log).toMatchObject([
      { item_id: "retriever:failing", excluded_reason: "retriever_failed", detail: "RangeError" },
      { item_id: "retriever:nonsense[0]", excluded_reason: "unreadable" },
      { item_id: "retriever:nonsense[1]", excluded_reason: "unreadable" },
      { item_id: "retriever:nonsense[2]", excluded_reason: "unreadable" },
    ])
    expect(problems.map(({ code, subject }) => [code, subject])).toEqual([
      ["retriever_failed", "retriever:failing"],
      ["chunk_unusable", "retriever:nonsense"],
      ["chunk_unusable", "retriever:nonsense"],
      ["chunk_unusable", "retriever:nonsense"],
    ])
  })
})

describe("policy", () => {
  test("[B-08] a filter of one's own keeps items out, and says which filter it was", () => {
    const noSecrets = {
      id: "no-secrets",
      refuses: ({ text }: { text: string }) => (text.includes("hunter2") ? "holds a password" : undefined),
    }
    const { manifest, prompt } = compile(
      stage,
      inputs({
        retrievers: [fixed(["a", 2], ["b", 1, "the password is hunter2"])],
        items: [{ id: "q", type: "user_input", text: "hunter2?", sourceRef: "event:1" }],
        policies: [noSecrets],
      }),
    )
    expect(prompt).not.toContain("hunter2")
    expect(manifest.exclusion_log).toMatchObject([
      {
        item_id: "q",
        item_type: "user_input",
        excluded_reason: "policy_filter",
        detail: "no-secrets: holds a password",
      },
      { item_id: "b", excluded_reason: "policy_filter" },
    ])
  })

  test("[B-08] a filter that throws refuses", () => {
    const broken = {
      id: "broken",
      refuses: () => {
        throw new Error("no rules loaded")
      },
    }
    const { manifest, problems } = compile(stage, inputs({ retrievers: [fixed(["a", 1])], policies: [broken] }))
    expect(manifest.exclusion_log).toMatchObject([{ item_id: "a", excluded_reason: "policy_filter" }])
    expect(problems).toMatchObject([{ code: "policy_failed", subject: "policy:broken" }])
  })

  const FIVE = [
    ["raw_decision_logs", "Too noisy, unbounded size"],
    ["full_conversation_history", "Not deterministic"],
    ["vector_embeddings", "No vector DB in architecture"],
    ["gpu_resident_state", "Ephemeral, not reproducible"],
    ["live_draw_outcomes", "Chapter 13 exclusive authority"],
  ] as const

  test("[B-09] each of the five excluded sources stands in the exclusion log of every preset context, with its reason", () => {
    for (const stepId of [1, 13]) {
      const { manifest } = buildLlmContext({ stepId }, setupOver())
      expect(
        manifest.exclusion_log
          .filter(({ item_id }) => item_id.startsWith("refused:"))
          .map(({ item_id, excluded_reason, detail }) => [item_id, excluded_reason, detail]),
      ).toEqual(FIVE.map(([kind, reason]) => [`refused:${kind}`, "policy_filter", reason]))
    }
  })

  test.each(FIVE)(
    "[B-09] %s are refused as chunk, as item and as a whole retriever, which is not even asked",
    (kind) => {
      let asked = false
      const own = (sourceKind: string | undefined): Retriever => ({
        id: `of-${sourceKind}`,
        version: "1",
        ...(sourceKind !== undefined && { sourceKind }),
        retrieve: () => {
          asked ||= sourceKind !== undefined
          return [{ chunk: { id: "canary", text: "CANARY", sourceKind: kind }, score: 1 }]
        },
      })
      const preset = defineStages(STEP_AWARENESS_PRESET).stage(1)
      const { manifest, prompt } = compile(preset, {
        ...inputs({
          retrievers: [own(undefined), own(kind)],
          items: [{ id: "item", type: "memory", text: "CANARY", sourceRef: "event:1", sourceKind: kind }],
        }),
        reader: setupOver().reader,
      })
      expect(prompt).not.toContain("CANARY")
      expect(asked).toBe(false)
      const refused = manifest.exclusion_log.filter(({ excluded_reason }) => excluded_reason === "policy_filter")
      expect(refused.map(({ item_id }) => item_id)).toEqual(
        expect.arrayContaining(["canary", "item", `retriever:of-${kind}`]),
      )
    },
  )
})
