import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { until } from './until.ts'
import { untilHealth } from './wallet.ts'

/** Runs the commands of `docs/operations.md` in one shell, and compares their output with that of the page. */

const page = fileURLToPath(new URL('../../docs/operations.md', import.meta.url))

interface Step {
  readonly command: string
  /** The output lines of the command and of its background jobs. */
  readonly lines: readonly string[]
}

/** The commands of the page with their output, from the blocks of the language `console`. */
function stepsOfPage(): readonly Step[] {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/^```console\n([\s\S]*?)^```$/gm)]
  return blocks.flatMap(([, text = '']) =>
    text
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [command = '', ...lines] = part.trimEnd().split('\n')
        return { command, lines }
      }),
  )
}

/** Replaces every number and identifier of a line, because they differ between runs. */
function shapeOf(line: string): string {
  return line
    .replaceAll(/\bA[\w-]{35}(?![\w-])/g, 'CURSOR')
    .replaceAll(/0x[0-9a-f]+/g, '0x')
    .replaceAll(/\d[\d.:TZ-]*/g, '1')
    .replaceAll(/ +/g, ' ')
}

const shapesOf = (lines: readonly string[], folder: string) =>
  lines.map((line) => shapeOf(line.replaceAll(folder, '/srv/ledger'))).toSorted()

/**
 * Shell functions that replace commands of the reader: `npx` runs the program without npm, and as on a terminal. `npm` only checks
 * the names of the tarballs, because the test has installed them.
 */
const shell = (tarballs: readonly string[]) => `set -m
npm() { [ "$*" = "install --silent ${tarballs.map((name) => `./${name}`).join(' ')}" ] || echo "not installed: $*"; }
node() { NODE_OPTIONS=$CLOCK "$NODE" "$@" < /dev/null; }
npx() {
  shift
  case "$1" in
    status) set -- "$@" "$URL" ;;
    faucet | feed) set -- "$@" --url "$URL" ;;
  esac
  NODE_OPTIONS="$CLOCK --import=data:text/javascript,process.stdout.isTTY=true" "$NODE" "$ENTRY" "$@" < /dev/null
}
`

/** Sets the clock of a program to a time. After years of downtime, a ledger would commit a slot for each second of them. */
const clock = (sinceMs: number) =>
  `--import=data:text/javascript,const%20now=Date.now;const%20ahead=${sinceMs - Date.now()};Date.now=()=>now()+ahead`

/** The place and the time of the run. */
interface Place {
  /** The folder of the reader: the packages, installed from the tarballs, and the files that the page names. */
  readonly folder: string
  readonly tarballs: readonly string[]
  readonly entry: string
  /** The time of the first command by the clocks of the programs, in milliseconds since 1970. */
  readonly beginsMs: number
}

/** Runs the commands, and returns every printed line. */
export async function runStory({
  folder,
  tarballs,
  entry,
  beginsMs,
}: Place): Promise<readonly string[]> {
  const { PATH } = process.env
  const settings = { PORT: '0', DRAIN_DELAY: '0', DRAIN_SECONDS: '0' }
  const env = { PATH, NODE: process.execPath, ENTRY: entry, CLOCK: clock(beginsMs), ...settings }
  const child = spawn('bash', [], { cwd: folder, env })
  const ended = once(child, 'exit')
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  }
  // The messages of the shell about its jobs are not output of the commands.
  const ofJobs = /^\[\d\].*(?:\n(?: .*|done))*$/gm
  const printed = () =>
    text
      .replaceAll(ofJobs, '')
      .split('\n')
      .filter((line) => line !== '')
  child.stdin.write(shell(tarballs))
  const all: string[] = []
  let url = ''
  let current = folder
  try {
    for (const { command, lines } of stepsOfPage()) {
      text = ''
      const isServe = command.includes('gateway serve')
      const [, metrics = ''] = /Metrics +http:\/\/(\S+)\//.exec(all.join('\n')) ?? []
      const here = command
        .replaceAll('http://127.0.0.1:4000', url)
        .replaceAll('127.0.0.1:9464', metrics)
        .replaceAll('--metrics-port 9464', '--metrics-port 0')
      child.stdin.write(`${here}\n${command.endsWith('&') ? '' : 'echo =$?=\n'}`)
      const wanted = shapesOf(lines, folder)
      const isOver = () => command.endsWith('&') || /^=\d+=$/m.test(text)
      const own = () => printed().filter((line) => !/^=\d+=$/.test(line))
      await until(() => isOver() && own().length >= lines.length, { what: command }).catch(() => {})
      expect(shapesOf(own(), folder), `${command}\n${text}`).toEqual(wanted)
      all.push(...own())
      const [, below] = /^cd (\S+)$/.exec(command) ?? []
      if (below !== undefined) current = join(current, below)
      if (!isServe) continue
      const [, log = ''] = /2> (\S+)/.exec(command) ?? []
      const path = join(current, log)
      url = await until(
        () => /"event":"serving","url":"([^"]+)"/.exec(readFileSync(path, 'utf8'))?.[1],
      )
      await untilHealth(url)
      child.stdin.write(`URL=${url}\n`)
    }
  } finally {
    // After a failure, the background jobs end too.
    child.stdin.end('for job in $(jobs -p); do kill -- -$job; done; wait\n')
    await ended
  }
  return all
}
