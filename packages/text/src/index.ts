// Recorded text made safe for a terminal, for Markdown, for a page, for JSON

export { htmlPage } from "./html-page.js"
export { firstLine, recordedText, recordedWord } from "./quote-recorded.js"
export { fenceAround, recordedFence } from "./recorded-fence.js"
export { fenced, safeHtml, safeJson, safeLine, safeMarkdown, safeText } from "./safe-text.js"
export { shellWord } from "./shell-word.js"
export { shortBlock, shortLine } from "./short-text.js"

// Columns: how wide a text is, and fitting it

export { shareBar, stackedBar } from "./bars.js"
export { cutToWidth, displayWidth, padToWidth } from "./display-width.js"
export { drawTree } from "./draw-tree.js"
export { type Column, formatTable, type TableOptions } from "./table.js"
export { fitLines, type WrapOptions, wrapCommand, wrapText } from "./wrap-text.js"

// Colours, which only an edge knows

export { type Painter, type PaintRole, plain } from "./painter.js"

// What was probably meant

export { nearestWord } from "./nearest-word.js"

// Numbers

export { formatBytes, formatCount, formatDuration, formatMoment, formatPercent, plural } from "./format-number.js"
export { durationIn, momentIn } from "./moment-in-words.js"
export { type CountTokens, cutToTokens, estimateTokens, mostTokens } from "./token-estimate.js"

// JSON: what differs, laid out, with published names

export { commonSubsequence, Interner } from "./common-subsequence.js"
export { type JsonChange, type JsonSpelling, jsonDifference, jsonSpelling } from "./json-difference.js"
export {
  escapePointer,
  leavesIn,
  memberOf,
  nodeAt,
  nodesOf,
  type PlacedNode,
  pointerMatches,
  pointerParts,
  pointerPattern,
  stringAt,
} from "./json-pointer.js"
export { prettyJsonText } from "./json-text.js"
export { type SnakeJson, snakeJson } from "./snake-json.js"
