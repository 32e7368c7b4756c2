import type { ActionType } from "@orangebox/contract"

/** What a tool does, as far as its name tells. */
export interface KnownTool {
  readonly action: ActionType
  /** What it does to the files it names; left out: it names none. */
  readonly access?: "read" | "write" | "delete"
  /** It hands a text to a shell, so that text decides what the action is. */
  readonly isShell?: boolean
}

/**
 * The tools of widespread coding agents (Claude Code, Codex, Cursor, Cline, Roo Code, OpenHands, SWE-agent, Gemini CLI, goose, opencode, pi,
 * Copilot) and MCP servers, and names applications often give their own, in lower case without separators: `MultiEdit`, `multi_edit` and
 * `mcp__editor__multi-edit` are one. Where agents share a name they also share its meaning; what the arguments are called is read from the
 * arguments themselves.
 */
const NAMES: readonly (readonly [meaning: KnownTool, names: string])[] = [
  [
    { action: "command", isShell: true },
    "bash shell localshell containerexec shellcommand execcommand unifiedexec runterminalcmd runterminalcommand executecommand " +
      "executebash cmdrun run runshellcommand runinterminal runcommand terminal exec",
  ],
  [
    { action: "other", access: "read" },
    "bashoutput read notebookread grep glob ls viewimage readfile readlints listdir codebasesearch grepsearch filesearch globfilesearch " +
      "fetchrules searchfiles listfiles listcodedefinitionnames opentool searchdir searchfile findfile readmanyfiles listdirectory " +
      "searchfilecontent analyze imageprocessor list find lspdiagnostics getterminaloutput geterrors semanticsearch readtextfile " +
      "readmediafile readmultiplefiles listdirectorywithsizes directorytree getfileinfo listalloweddirectories",
  ],
  [
    { action: "command" },
    "killshell killbash writestdin executeipythoncell ipython python gitcommit gitadd gitcheckout gitreset gitcreatebranch",
  ],
  [
    { action: "edit", access: "write" },
    "edit multiedit write notebookedit applypatch editfile searchreplace reapply editnotebook writetofile newfile replaceinfile " +
      "applydiff insertcontent searchandreplace strreplaceeditor strreplacebasededittool strreplace texteditor writefile replace patch " +
      "inserteditintofile replacestringinfile multireplacestringinfile createfile createdirectory movefile createorupdatefile pushfiles",
  ],
  [
    { action: "api_call" },
    "webfetch websearch fetchpullrequest browseraction accessmcpresource browse browser googlewebsearch codesearch fetchwebpage " +
      "createbranch createissue createrepository forkrepository fetch httprequest",
  ],
  [
    { action: "other" },
    "task agent todoread skill slashcommand newtask switchmode savememory screencapture listwindows gitstatus gitdiff gitdiffstaged " +
      "gitdiffunstaged gitlog gitshow",
  ],
  [
    { action: "plan" },
    "todowrite exitplanmode enterplanmode updateplan planmoderespond updatetodolist think tasktracker writetodos todo managetodolist",
  ],
  [
    { action: "message" },
    "askuserquestion askfollowupquestion attemptcompletion finish submit sendmessage sendemail replytouser",
  ],
  [{ action: "edit", access: "delete" }, "deletefile"],
  [{ action: "run_tests", isShell: true }, "runtests runtest runintests"],
  [{ action: "merge" }, "gitmerge mergepullrequest mergemergerequest mergepr"],
  [{ action: "open_pr" }, "createpullrequest createmergerequest createpr openpr openpullrequest"],
  [{ action: "deploy" }, "deploy deploysite publish"],
  [{ action: "no_op" }, "noop donothing"],
]
const TOOLS = new Map(NAMES.flatMap(([meaning, names]) => names.split(" ").map((name) => [name, meaning] as const)))

export const knownTool = (name: string): KnownTool | undefined => TOOLS.get(toolKey(name))

/** `mcp__github__create_pull_request` → `createpullrequest`, `developer__text_editor` → `texteditor`, `functions.Bash` → `bash`. */
export function toolKey(name: string): string {
  const last = name.split(/__|[.:/]/).findLast((part) => part !== "") ?? name
  return last.toLowerCase().replace(/[^a-z0-9]/g, "")
}

/** Whether a name says that another process behind a protocol runs the tool. */
export const isMcpName = (name: string): boolean => /^mcp(?:__|[.:/-])/i.test(name)
