import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { bm25Retriever, type CompiledContext, chunksOfFolder, compile, defineStages } from "@orangebox/context"
import type { Step } from "@orangebox/recorder"

const STAGE = defineStages({
  name: "demo-coder",
  version: "1",
  stages: [
    {
      id: "change",
      name: "change",
      mission:
        "You are a careful programmer. Change the project as the user asks. What the project's notes say holds. Read before you change anything, change as little as possible, and run the tests before you say that you are done.",
      guardrails: ["Change nothing that was not asked for."],
    },
  ],
}).stage("change")

/** An agent that has to pay for every token keeps little room for notes. The one it would have needed does not fit. */
const ROOM_FOR_NOTES = 60

/** The first prompt of a run: the request, and those of the project's notes that bear on it and fit. */
export function compilePrompt(step: Step, workspace: string, request: string): CompiledContext {
  const reader = {
    read: (path: string) => readFileSync(join(workspace, path)),
    list: (folder: string) => readdirSync(join(workspace, folder)).sort(),
  }
  return compile(STAGE, {
    runId: step.runId,
    stepId: step.id,
    generatedAt: new Date().toISOString(),
    reader,
    items: [{ id: "request", type: "user_input", text: request, sourceRef: "user:request" }],
    query: request,
    retrievers: [bm25Retriever({ chunks: chunksOfFolder({ reader, folder: "notes" }).chunks })],
    minScore: 0.2,
    budgets: { historyCap: ROOM_FOR_NOTES },
  })
}

/** The compiled prompt as it is sent: what is the same in every run as the system prompt, where it is cached, the rest as the first message. */
export function cutAtPrefix({ prompt, manifest }: CompiledContext): {
  readonly system: string
  readonly question: string
} {
  const bytes = Buffer.from(prompt)
  const at = manifest.prefix_length
  return { system: bytes.subarray(0, at).toString(), question: bytes.subarray(at).toString() }
}
