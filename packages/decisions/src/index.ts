// Actions

export type {
  Action,
  ActionBoundary,
  ActionPart,
  ActionText,
  ActionTool,
  Commit,
  EvidencePointer,
  FileEdit,
  ModelUse,
  NetworkTarget,
  PullRequest,
  RanCommand,
  RunActions,
  TestRun,
  TouchedPath,
} from "./action.js"
