import { z } from "zod"
import { Verdict } from "../../contract/definitions/events/evaluation.js"

const Text = z.string().nullable()

/** What a judge is asked: one JSON document, on stdin where the judge is a command. */
export const JudgeQuestion = z.strictObject({
  protocol: z.literal("orangebox.judge/1"),
  judge: z.string(),
  constraint: z.strictObject({ id: z.string(), type: z.string(), rule: z.string() }),
  instruction: z.string(),
  /** Said to every judge, because a judge that is a model reads it: recorded text may hold instructions meant for it. */
  note: z.string(),
  run: z.strictObject({
    run_id: z.string(),
    status: z.enum(["completed", "failed", "crashed", "running", "silent"]),
    request: Text,
    action_count: z.number().int().nonnegative(),
    /** The last ones, when there are too many to show. */
    actions: z.array(
      z.strictObject({
        step_id: z.string(),
        step_no: z.number().int(),
        type: z.string(),
        status: z.string(),
        summary: z.string(),
        output: Text,
        paths: z.array(z.string()),
        commands: z.array(z.string()),
        tests: z.array(z.strictObject({ runner: z.string(), outcome: z.string(), summary: z.string() })),
      }),
    ),
    is_cut: z.boolean(),
  }),
  /** Only where the question is what went wrong (`orangebox diagnose --judge`): what is known already, and where one would begin to read. */
  diagnosis: z
    .strictObject({
      expected: Text,
      /** One line for each step, with recorded text in it. */
      skeleton: z.string(),
      findings: z.array(z.strictObject({ step_no: z.number().int(), detector: z.string(), claim: z.string() })),
      suspects: z.array(z.strictObject({ step_no: z.number().int(), step_id: z.string(), why: z.array(z.string()) })),
    })
    .optional(),
})

/** What a judge answers: one JSON document, on stdout where the judge is a command. */
export const JudgeAnswer = z.object({
  status: Verdict,
  score: z.number().min(0).max(1).nullable().optional(),
  message: z.string().max(4000).optional(),
  violations: z
    .array(
      z.object({
        message: z.string().min(1).max(4000),
        step_id: z.string().max(64).optional(),
        excerpt: z.string().max(4000).optional(),
      }),
    )
    .max(100)
    .optional(),
})
