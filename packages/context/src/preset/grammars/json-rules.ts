/** The rules every grammar here ends with: JSON's scalars, with at most one space or line break between tokens. */
export const JSON_RULES = String.raw`string  ::= "\"" char* "\"" ws
char    ::= [^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" hex hex hex hex)
hex     ::= [0-9a-fA-F]
number  ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)? ws
share   ::= ("0" ("." [0-9]+)? | "1" ("." "0"+)?) ws
boolean ::= ("true" | "false") ws
null    ::= "null" ws
strings ::= "[" ws (string ("," ws string)*)? "]" ws
ws      ::= " "? | "\n" [ \t]*
`
