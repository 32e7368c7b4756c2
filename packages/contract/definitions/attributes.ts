import { z } from "zod"
import { MAX_ATTRIBUTE_NAME } from "../src/attributes.js"

/** What had to be done to a value to make it a flat scalar. Kept beside the attributes, so that a reader never mistakes one for the other. */
export const AttributeMark = z.enum(["json", "text", "truncated", "unreadable"])

export const AttributesSchema = z.record(
  z.string().max(MAX_ATTRIBUTE_NAME),
  z.union([z.string(), z.number(), z.boolean(), z.null()]),
)
export const AttributeMarks = z.record(z.string(), AttributeMark)
