import type { ActionType } from "@orangebox/contract"

/** What a tool does, as far as its name tells. */
export interface KnownTool {
  readonly action: ActionType
  /** What it does to the files it names; left out: it names none. */
  readonly access?: "read" | "write" | "delete"
  /** It hands a text to a shell, so that text decides what the action is. */
  readonly isShell?: boolean
}

const shell: KnownTool = { action: "command", isShell: true }
const control: KnownTool = { action: "command" }
const edit: KnownTool = { action: "edit", access: "write" }
const remove: KnownTool = { action: "edit", access: "delete" }
const read: KnownTool = { action: "other", access: "read" }
const plan: KnownTool = { action: "plan" }
const call: KnownTool = { action: "api_call" }
const message: KnownTool = { action: "message" }
const openPr: KnownTool = { action: "open_pr" }
const merge: KnownTool = { action: "merge" }
const deploy: KnownTool = { action: "deploy" }
const tests: KnownTool = { action: "run_tests", isShell: true }
const other: KnownTool = { action: "other" }

/**
 * The tools of widespread coding agents and MCP servers, by name in lower case without separators: `MultiEdit`, `multi_edit` and
 * `mcp__editor__multi-edit` are one entry. Where agents share a name they also share its meaning; what the arguments are called is read
 * from the arguments themselves.
 */
const TOOLS: Readonly<Record<string, KnownTool>> = {
  // Claude Code
  bash: shell,
  bashoutput: read,
  killshell: control,
  killbash: control,
  edit,
  multiedit: edit,
  write: edit,
  notebookedit: edit,
  read,
  notebookread: read,
  grep: read,
  glob: read,
  ls: read,
  webfetch: call,
  websearch: call,
  task: other,
  agent: other,
  todowrite: plan,
  todoread: other,
  exitplanmode: plan,
  enterplanmode: plan,
  askuserquestion: message,
  skill: other,
  slashcommand: other,

  // Codex
  shell,
  localshell: shell,
  containerexec: shell,
  shellcommand: shell,
  execcommand: shell,
  writestdin: control,
  unifiedexec: shell,
  applypatch: edit,
  updateplan: plan,
  viewimage: read,

  // Cursor
  runterminalcmd: shell,
  runterminalcommand: shell,
  editfile: edit,
  searchreplace: edit,
  reapply: edit,
  deletefile: remove,
  readfile: read,
  readlints: read,
  listdir: read,
  codebasesearch: read,
  grepsearch: read,
  filesearch: read,
  globfilesearch: read,
  editnotebook: edit,
  fetchrules: read,
  fetchpullrequest: call,

  // Cline and Roo Code
  executecommand: shell,
  writetofile: edit,
  newfile: edit,
  replaceinfile: edit,
  applydiff: edit,
  insertcontent: edit,
  searchandreplace: edit,
  searchfiles: read,
  listfiles: read,
  listcodedefinitionnames: read,
  browseraction: call,
  accessmcpresource: call,
  askfollowupquestion: message,
  attemptcompletion: message,
  newtask: other,
  switchmode: other,
  planmoderespond: plan,
  updatetodolist: plan,

  // OpenHands, SWE-agent, the editor tool of Anthropic
  executebash: shell,
  cmdrun: shell,
  run: shell,
  strreplaceeditor: edit,
  strreplacebasededittool: edit,
  strreplace: edit,
  texteditor: edit,
  executeipythoncell: control,
  ipython: control,
  python: control,
  think: plan,
  finish: message,
  submit: message,
  browse: call,
  browser: call,
  tasktracker: plan,
  opentool: read,
  searchdir: read,
  searchfile: read,
  findfile: read,

  // Gemini CLI
  runshellcommand: shell,
  writefile: edit,
  replace: edit,
  readmanyfiles: read,
  listdirectory: read,
  searchfilecontent: read,
  googlewebsearch: call,
  savememory: other,
  writetodos: plan,

  // goose
  todo: plan,
  analyze: read,
  screencapture: other,
  listwindows: other,
  imageprocessor: read,

  // opencode and pi
  patch: edit,
  list: read,
  find: read,
  lspdiagnostics: read,
  codesearch: call,

  // Copilot in VS Code
  runinterminal: shell,
  getterminaloutput: read,
  inserteditintofile: edit,
  replacestringinfile: edit,
  multireplacestringinfile: edit,
  createfile: edit,
  createdirectory: { action: "edit", access: "write" },
  runtests: tests,
  runtest: tests,
  runintests: tests,
  geterrors: read,
  semanticsearch: read,
  fetchwebpage: call,
  managetodolist: plan,

  // MCP: filesystem, git, GitHub, GitLab, fetch
  readtextfile: read,
  readmediafile: read,
  readmultiplefiles: read,
  listdirectorywithsizes: read,
  directorytree: read,
  getfileinfo: read,
  listalloweddirectories: read,
  movefile: edit,
  gitcommit: { action: "command" },
  gitadd: { action: "command" },
  gitcheckout: { action: "command" },
  gitreset: { action: "command" },
  gitcreatebranch: { action: "command" },
  gitmerge: merge,
  gitstatus: other,
  gitdiff: other,
  gitdiffstaged: other,
  gitdiffunstaged: other,
  gitlog: other,
  gitshow: other,
  createorupdatefile: edit,
  pushfiles: edit,
  createpullrequest: openPr,
  createmergerequest: openPr,
  createpr: openPr,
  openpr: openPr,
  openpullrequest: openPr,
  mergepullrequest: merge,
  mergemergerequest: merge,
  mergepr: merge,
  createbranch: call,
  createissue: call,
  createrepository: call,
  forkrepository: call,
  fetch: call,
  httprequest: call,

  // Names applications often give their own tools
  runcommand: shell,
  terminal: shell,
  exec: shell,
  deploy,
  deploysite: deploy,
  publish: deploy,
  sendmessage: message,
  sendemail: message,
  replytouser: message,
  noop: { action: "no_op" },
  donothing: { action: "no_op" },
}

export function knownTool(name: string): KnownTool | undefined {
  const key = toolKey(name)
  return Object.hasOwn(TOOLS, key) ? TOOLS[key] : undefined
}

/** `mcp__github__create_pull_request` → `createpullrequest`, `developer__text_editor` → `texteditor`, `functions.Bash` → `bash`. */
export function toolKey(name: string): string {
  const last = name.split(/__|[.:/]/).findLast((part) => part !== "") ?? name
  return last.toLowerCase().replace(/[^a-z0-9]/g, "")
}

/** Whether a name says that another process behind a protocol runs the tool. */
export const isMcpName = (name: string): boolean => /^mcp(?:__|[.:/-])/i.test(name)
