/** Programs that only read and print. */
export const READERS = new Set(
  (
    "cat head tail less more ls dir tree stat file wc grep egrep fgrep rg ag ack find fd diff cmp comm cut tr nl od xxd hexdump strings " +
    "md5sum sha1sum sha256sum sha512sum cksum du df column fold rev tac paste join bat readlink realpath basename dirname locate zcat " +
    "zgrep zless diffstat cloc tokei shellcheck"
  ).split(" "),
)

/** Programs that do nothing a check looks at. */
export const HARMLESS = new Set(
  (
    ": true false echo printf pwd cd chdir pushd popd dirs test [ [[ export declare typeset local readonly unset set shopt umask ulimit alias " +
    "unalias type which whereis command exit return break continue shift wait jobs fg bg kill pkill killall sleep date cal uname whoami " +
    "id groups hostname uptime env printenv ps top htop free lsof pgrep seq expr bc let tput clear reset stty tty yes read mapfile getopts " +
    "help man info times trap disown nproc arch locale timeout nice nohup time lsb_release sysctl getconf sync xargs sudo"
  ).split(" "),
)

/**
 * Compilers, linters, builds: they write their products where their configuration says. They are taken at their word, as test runs are;
 * a snapshot of the work tree before and after tells what they really changed.
 */
export const BUILDERS = new Set(
  (
    "make cmake ninja meson tsc tsgo vite webpack rollup esbuild swc parcel turbo nx lerna babel eslint stylelint mypy pyright pylint flake8 " +
    "javac java kotlinc scalac sbt gcc g++ cc c++ clang clang++ ld rustc mvn mvnw gradle gradlew dotnet swift xcodebuild ant bazel buck just task " +
    "golangci-lint staticcheck clippy npm pnpm yarn bun cargo go tox nox pre-commit rubocop rake rails mix next nuxt astro storybook ruff black " +
    "prettier biome isort gofmt rustfmt poetry pipenv pdm uv bundle deno composer"
  ).split(" "),
)
