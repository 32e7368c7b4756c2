import { z } from "zod"

/**
 * What a fork changes, as data: rules that pick calls and say what is different about them. The schema is published with the package, so
 * that an editor can check a profile while it is written.
 */
const Text = z.string().max(4_000_000)

export const TextEdit = z.union([
  z.strictObject({ replace_all: Text }),
  z.strictObject({ find: Text.min(1), with: Text, expect_count: z.number().int().nonnegative().default(1) }),
  z.strictObject({ append: Text }),
  z.strictObject({ unified_diff: Text }),
])

/** Which message of the history is meant. Several members narrow each other down. */
export const ContextRef = z.strictObject({
  message_hash: z.string().optional(),
  from_step_id: z.string().optional(),
  /** From the start; negative counts from the end. */
  index: z.number().int().optional(),
  role: z.string().optional(),
})

export const JsonPatchOp = z.discriminatedUnion("op", [
  z.strictObject({ op: z.enum(["add", "replace", "test"]), path: z.string(), value: z.json() }),
  z.strictObject({ op: z.literal("remove"), path: z.string() }),
  z.strictObject({ op: z.enum(["move", "copy"]), from: z.string(), path: z.string() }),
])

export const OverrideValue = z.union([
  z.strictObject({ artifact: z.string().regex(/^sha256:[0-9a-f]{64}$/, "is not a body id") }),
  z.strictObject({ inline: z.json() }),
  z.strictObject({ from_run: z.string(), step_id: z.string() }),
  /** RFC 6902, on the recorded value. */
  z.strictObject({ json_patch: z.array(JsonPatchOp) }),
])

export const Selector = z.strictObject({
  step_id: z.string().optional(),
  lane_id: z.string().optional(),
  kind: z.enum(["model", "tool", "retriever", "mcp", "http"]).optional(),
  tool: z.string().optional(),
  model: z.string().optional(),
  occurrence: z.number().int().nonnegative().optional(),
  /** JSON Pointer into the request → a literal, or `{ "regex": … }` for texts. */
  match: z.record(z.string(), z.json()).optional(),
})

export const OverrideOp = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("model.swap"),
    model: z.string().min(1),
    provider: z.string().optional(),
    reasoning_blocks: z.enum(["auto", "keep", "strip"]).default("auto"),
  }),
  z.strictObject({
    type: z.literal("param.set"),
    set: z.record(z.string(), z.json()).optional(),
    unset: z.array(z.string()).optional(),
  }),
  z.strictObject({ type: z.literal("system.edit"), edit: TextEdit }),
  z.strictObject({ type: z.literal("message.edit"), at: ContextRef, edit: TextEdit }),
  z.strictObject({
    type: z.literal("context.drop"),
    at: ContextRef,
    pairing: z.enum(["refuse", "drop_pair"]).default("drop_pair"),
  }),
  z.strictObject({
    type: z.literal("context.insert"),
    at: ContextRef,
    position: z.enum(["before", "after"]).default("after"),
    item: z.record(z.string(), z.json()),
  }),
  z.strictObject({
    type: z.literal("tools.edit"),
    add: z.array(z.record(z.string(), z.json())).optional(),
    remove: z.array(z.string()).optional(),
    /** Tool name → members of its definition to set. */
    patch: z.record(z.string(), z.record(z.string(), z.json())).optional(),
  }),
  z.strictObject({ type: z.literal("tool.result"), result: OverrideValue, is_error: z.boolean().default(false) }),
  z.strictObject({
    type: z.literal("retrieval.result"),
    documents: OverrideValue.optional(),
    drop_ids: z.array(z.string()).optional(),
    reorder: z.array(z.string()).optional(),
  }),
  z.strictObject({ type: z.literal("response.replace"), response: OverrideValue }),
  z.strictObject({
    type: z.literal("fault"),
    fault: z.enum(["http_status", "reset", "timeout", "truncate_stream"]),
    status: z.number().int().min(100).max(599).optional(),
    after_bytes: z.number().int().nonnegative().optional(),
  }),
  z.strictObject({
    type: z.literal("policy"),
    mode: z.enum(["exact", "cached", "simulated", "live", "deny"]),
    simulator: z.string().optional(),
  }),
])

export const OverrideRule = z.strictObject({
  id: z.string().min(1),
  select: Selector,
  times: z.number().int().min(1).optional(),
  op: OverrideOp,
})

export const OverrideProfile = z.strictObject({
  schema_version: z.literal(1),
  name: z.string().optional(),
  seed: z.number().int().optional(),
  /** Where the rules apply: the fork's step alone, it and what follows, or everywhere. */
  scope: z.enum(["fork_step_only", "from_fork", "whole_run"]).default("from_fork"),
  egress: z.enum(["deny", "models_only", "allow"]).default("models_only"),
  rules: z.array(OverrideRule),
})
