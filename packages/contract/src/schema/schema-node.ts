/**
 * A schema as plain data. `npm run schemas` writes these from the zod definitions in `definitions/`, so that zod stays with those who
 * change a schema and the packages that are installed need a few hundred lines to check a value.
 */
export type SchemaNode = (
  | {
      readonly is: "string"
      readonly min?: number
      readonly max?: number
      readonly pattern?: RegExp
      readonly says?: string
    }
  | { readonly is: "http_url" }
  | { readonly is: "number"; readonly int?: true; readonly min?: number; readonly over?: number; readonly max?: number }
  | { readonly is: "boolean" | "any" | "json" }
  | { readonly is: "one_of"; readonly values: readonly (string | number | boolean | null)[]; readonly says?: string }
  | { readonly is: "list"; readonly of: SchemaNode; readonly min?: number; readonly max?: number }
  | { readonly is: "record"; readonly keys: SchemaNode; readonly of: SchemaNode }
  | ObjectNode
  | { readonly is: "union"; readonly of: readonly SchemaNode[]; readonly says?: string; readonly by?: string }
) & {
  readonly optional?: true
  readonly nullable?: true
  /** What stands for a member that is not there. */
  readonly default?: unknown
  /** The field came with that version of the event schema: legal only on events that say so. */
  readonly since?: "1.1" | "1.2"
  /** The field names a body. */
  readonly bodyRef?: true
}

export interface ObjectNode {
  readonly is: "object"
  readonly fields: { readonly [name: string]: SchemaNode }
  /** What happens to members that have no field; left out: they are refused. */
  readonly others?: "dropped" | "kept"
}

/**
 * Which reading of the one definition applies to an event:
 *
 * - `first`   schema 1.0: without everything that is marked as added later
 * - `current` the definition itself
 * - `newer`   a minor version this build has not heard of: fields it does not know are accepted, at every depth
 */
export type Edition = "first" | "current" | "newer"

export function editionOf<Node extends SchemaNode>(node: Node, edition: Edition): Node {
  if (edition === "current") return node
  if (node.is === "list") return { ...node, of: editionOf(node.of, edition) }
  if (node.is !== "object") return node
  const fields = Object.entries(node.fields)
    .filter(([, field]) => edition !== "first" || field.since === undefined)
    .map(([name, field]) => [name, editionOf(field, edition)] as const)
  return { ...node, fields: Object.fromEntries(fields), ...(edition === "newer" ? { others: "kept" } : {}) }
}
