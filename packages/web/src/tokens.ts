/** The colours, by what they are for. `theme.css` has the same values; a test holds them together and computes the contrasts. */
export interface Colours {
  readonly bg0: string
  readonly bg1: string
  readonly bg2: string
  readonly sel: string
  readonly line: string
  readonly edge: string
  readonly fg0: string
  readonly fg1: string
  readonly fg2: string
  readonly accent: string
  readonly model: string
  readonly tool: string
  readonly user: string
  readonly system: string
  readonly tooldef: string
  readonly evidence: string
  readonly error: string
  readonly warn: string
  readonly ok: string
  readonly cache: string
}

export const DARK: Colours = {
  bg0: "#0e1013",
  bg1: "#14171b",
  bg2: "#1d2127",
  sel: "#2c2318",
  line: "#2a2f37",
  edge: "#5d6773",
  fg0: "#e8ebef",
  fg1: "#aeb6c1",
  fg2: "#8a94a1",
  accent: "#ff8a3d",
  model: "#b9a1ff",
  tool: "#4cc9b0",
  user: "#f58fb0",
  system: "#7fa8f0",
  tooldef: "#93a1b5",
  evidence: "#cdb95c",
  error: "#ff7a75",
  warn: "#efc050",
  ok: "#70c98d",
  cache: "#63bdf5",
}

export const LIGHT: Colours = {
  bg0: "#f5f6f8",
  bg1: "#ffffff",
  bg2: "#edeff2",
  sel: "#fff0e3",
  line: "#dde1e6",
  edge: "#828c98",
  fg0: "#191c20",
  fg1: "#474f5a",
  fg2: "#5f6873",
  accent: "#b64c05",
  model: "#6a45d1",
  tool: "#0a7566",
  user: "#b3315f",
  system: "#2f5fc4",
  tooldef: "#566479",
  evidence: "#7a6300",
  error: "#bf2626",
  warn: "#855c00",
  ok: "#1c7440",
  cache: "#0a66ad",
}

/** The hue of a contributor's kind. What has none of its own is grey, never the colour of something else. */
export function hueOf(kind: string): keyof Colours {
  return HUES[kind] ?? "fg2"
}

const HUES: Readonly<Record<string, keyof Colours>> = {
  "tool-def": "tooldef",
  tooldef: "tooldef",
  system: "system",
  persona: "system",
  skill: "system",
  "agent-profile": "system",
  user: "user",
  "user-msg": "user",
  assistant: "model",
  "assistant-msg": "model",
  "tool-call": "model",
  thinking: "model",
  "tool-result": "tool",
  evidence: "evidence",
  memory: "evidence",
  retrieved: "evidence",
}
