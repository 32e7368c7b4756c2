import { payloadOf } from "@orangebox/contract"
import type { Step } from "./fold-run.js"

/** A step in which the recorder looked at the work tree. The agent did nothing in it. */
export const isWorkspaceLook = ({ opened }: Step): boolean => payloadOf(opened)["kind"] === "workspace"
