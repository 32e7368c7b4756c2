/** Words that several entries of the table use. */

/** Shapes in which the application itself tells of its tools and steps. */
export const SDK = { door: ["sdk"] }
/** Without the text nobody can tell. */
export const HASHED = { capture: ["hashed"] }

export const pick = (random, list) => list[Math.floor(random() * list.length)]

/** The model call that the agent made last. */
export const lastCall = (agent) => ({ model: agent.calls })
export const lastTool = (agent) => ({ tool: agent.tools })
