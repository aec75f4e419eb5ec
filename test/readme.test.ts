import { execFile } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import packageJson from '../package.json' with { type: 'json' }
import { commands } from '../src/cli/help.ts'
import { present } from '../src/lib/assert.ts'
import { settings } from '../src/settings.ts'
import { graphql, socketClient } from './support/client.ts'
import { type SemanticVector, semanticLine } from './support/semantic-questions.ts'
import { startGateway, type TestGateway } from './support/start-gateway.ts'
import { loadVectors } from './support/vectors.ts'
import { untilHealth } from './support/wallet.ts'

/** Runs the commands and documents in the README and the pages of docs. */

const root = fileURLToPath(new URL('..', import.meta.url))
const names = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
const pages = ['README.md', ...names.map((name) => `docs/${name}`)].map((name) => {
  return { name, text: readFileSync(join(root, name), 'utf8') }
})
const readme = pages[0]?.text ?? ''
/** The pages, and the documents without commands of their own. */
const documents = [
  ...pages,
  ...[
    'CHANGELOG.md',
    'test/README.md',
    'test/vectors/README.md',
    ...readdirSync(join(root, 'docs/decisions')).map((name) => `docs/decisions/${name}`),
  ].map((name) => ({ name, text: readFileSync(join(root, name), 'utf8') })),
]

interface Block {
  readonly page: string
  readonly language: string
  /** Number of the line before the block. */
  readonly line: number
  readonly text: string
}

const blocks: readonly Block[] = pages.flatMap(({ name, text }) =>
  [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)].map((match) => {
    const [, indent = '', language = '', body = ''] = match
    const line = text.slice(0, match.index).split('\n').length
    return { page: name, language, line, text: body.replaceAll(`\n${indent}`, '\n').trimStart() }
  }),
)

const ofLanguage = (...languages: readonly string[]) =>
  blocks.filter(({ language }) => languages.includes(language))

/** Pages whose commands this test does not run, with the test that runs them as far as possible. */
const notRunHere: Readonly<Record<string, string>> = {
  'docs/cli.md': 'cli/cli-page.test.ts',
  'docs/rest.md': 'api/rest/handbook.test.ts',
  // Commands of deployment tools; that test runs those that can be run.
  'docs/deploy.md': 'deploy/manifests.test.ts',
  // Commands for a PostgreSQL with standbys.
  'docs/high-availability.md': 'e2e/restored.test.ts',
  // The walk-through of the page, with the installed packages.
  'docs/operations.md console': 'checkout/package.test.ts',
  // The page loads an SDK of the operator's choice; that test has its own tracer.
  'docs/tracing.md': 'metrics/tracing.test.ts',
}

/** Files that the commands of the pages need, by name. */
const filesOf: Readonly<Record<string, string>> = {
  'jwt.txt': 'a secret of more than thirty-two bytes\n',
  'secret.txt': 'a secret of more than thirty-two bytes\n',
  'issuer.txt': `0x${'ab'.repeat(32)}\n`,
}

/** Commands that the text of a page requires before its commands. */
const before: Readonly<Record<string, string>> = {
  'docs/upgrade.md': 'ledger-gateway backup ledger.backup',
}

/** Texts that the output of the commands of a page contains. */
const printed: Readonly<Record<string, readonly string[]>> = {
  'README.md': ['"outputId":"0x', '"problems":[]'],
  'docs/inspect.md': ['  blockId: 0x', 'problems: none\n'],
  'docs/settings.md': ['"problems":[]'],
}

/** Runs the commands as the shell of a reader would, except that `serve` only prints its settings. */
const shell = `
ledger-gateway() {
  case "$1" in
    serve) "$NODE" "$ENTRY" "$@" --print-config > /dev/null ;;
    faucet) "$NODE" "$ENTRY" "$@" --url "$GATEWAY_URL" ;;
    status) "$NODE" "$ENTRY" status "\${2:-$GATEWAY_URL}" ;;
    *) "$NODE" "$ENTRY" "$@" ;;
  esac
}
npm() {
  case "$*" in
    'run -s ledger-gateway -- '*) shift 4; ledger-gateway "$@" ;;
    start) ledger-gateway serve ;;
    # This test runs in npm test, and cli/demo.test.ts runs the demonstration.
    ci | test | 'run demo') ;;
    *) echo "this test does not know npm $*" >&2; return 1 ;;
  esac
}
curl() { command curl -sS --fail-with-body "$@"; }
# e2e/clock.test.ts sends this signal to a gateway.
kill() { [ "$*" = '-USR2 PID' ]; }
`

/** Commands in the text that fail beside the gateway of this test, with their messages. Comments name the tests where they work. */
const refusedHere: Readonly<Record<string, string>> = {
  // e2e/workers.test.ts
  'serve --workers 4': 'a SQLite file is for one process',
  // e2e/restored.test.ts
  'restore --accept': 'there is nothing to accept',
  // cli/partition.test.ts, store/partitions/partition-log.test.ts, e2e/partitions.test.ts
  partition: 'PARTITIONS_NOT_SUPPORTED',
  // cli/distribute.test.ts, store/partitions/distribute-log.test.ts
  distribute: 'SHARDS_NOT_SUPPORTED',
  // cli/rebuild-activity.test.ts
  'rebuild-activity': 'writes this database',
}

/** Replacements for placeholders in commands in the text. */
const placeholders: Readonly<Record<string, string>> = {
  COMMAND: 'check',
  TOPIC: 'exit-codes',
  'snapshot write FILE': 'snapshot write ledger.snapshot',
  'snapshot check FILE': 'snapshot check ledger.snapshot',
  'verify FILE': 'verify case',
}

const refused = `
refused() {
  local part=$1 message
  shift
  if message=$("$@" 2>&1); then echo "not refused: $*" >&2; return 1; fi
  [[ $message == *"$part"* ]] || { echo "$*: $message" >&2; return 1; }
}
`

/** Each `ledger-gateway` command in the text. A command whose required arguments are missing is run with --help. */
const sentences = [...new Set(pages.flatMap(({ text }) => codeIn(text)))].flatMap((code) => {
  const [, given] = /^(?:npm run -s )?ledger-gateway (?:-- )?(?!-- )(\S.*)$/.exec(code) ?? []
  if (given === undefined) return []
  let words = given
  for (const [capitals, text] of Object.entries(placeholders)) {
    words = words.replace(capitals, text)
  }
  const { flags = [], words: forms = [] } = commands.find(({ name }) => name === words) ?? {}
  const needsMore = [...flags.filter(({ isRequired }) => isRequired), ...forms].some(
    (form) => !('isOptional' in form),
  )
  const run = `ledger-gateway ${words}${needsMore ? ' --help' : ''}`
  const message = refusedHere[given]
  return [{ code, run: message === undefined ? run : `refused '${message}' ${run}` }]
})

/** Returns the inline code of a page. */
function codeIn(text: string): readonly string[] {
  const prose = text.replaceAll(/^( *)```[\s\S]*?^ *```$/gm, '')
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
}

/** npm scripts that the pages name, with the test that covers them or the reason why none does. */
const scripts: Readonly<Record<string, string>> = {
  // Runs before every check.
  build: 'README.md: npm test',
  generate: 'checkout/generate.test.ts',
  'ledger-gateway': 'this test',
  vitest: 'this test',
  demo: 'cli/demo.test.ts',
  'pack:client': 'checkout/package.test.ts',
  sbom: 'checkout/supply-chain.test.ts',
  schema: 'api/graphql/schema.test.ts',
  reference: 'api/graphql/print-reference.test.ts',
  migration: 'not run: it writes a migration into the checkout',
  fix: 'not run: it writes into the checkout; every check tests its result',
  screenshots: 'not run: it writes the images of the pages',
  bench: 'not run: it takes minutes on an idle machine',
  attack: 'e2e/attack.test.ts',
  torture: 'e2e/kill.test.ts',
  'test:model': 'model/model.test.ts',
  'test:clients': 'not run: it downloads packages from a registry',
  'test:runtimes': 'not run: it downloads Node from a registry',
  'test:upgrade': 'not run: it needs the package of a former release',
  'test:deploy': 'deploy/image.test.ts',
}

/** Other programs in the text, with the test that covers them or the reason why none does. */
const otherPrograms: Readonly<Record<string, string>> = {
  'npm start': 'checkout/entry.test.ts',
  'npm ci': 'not run: it has installed this checkout',
  'npm ci --cache EMPTY': 'not run: it downloads all packages again, for a measurement',
  'npm ci --omit=dev': 'deploy/image.test.ts',
  'npm pack': 'checkout/package.test.ts',
  'npm install ledger-gateway-0.1.0.tgz': 'checkout/package.test.ts',
  'npx ledger-gateway serve': 'checkout/package.test.ts',
  'node dist/entry.cjs serve': 'checkout/entry.test.ts',
  'node --cpu-prof dist/main.js serve': 'not run: it is for manual profiling',
  'npm audit --omit=dev': 'not run: it queries a registry',
  'kill -9': 'e2e/kill.test.ts',
  'docker compose up': 'not run: there is no Docker',
  'docker compose up --build --detach --no-deps gateway-1': 'not run: there is no Docker',
  'docker compose stop gateway-1 gateway-2': 'not run: there is no Docker',
  'kubectl apply': 'not run: there is no cluster',
  'kubectl scale deployment/ledger-gateway --replicas=0': 'not run: there is no cluster',
  'systemd-analyze security':
    'not run: there is no systemd; npm run test:deploy runs it if there is',
}

describe('the examples run of', () => {
  let folder = ''
  let gateway: TestGateway
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-pages-'))
    mkdirSync(join(folder, 'data'))
    const file = (name: string) => join(folder, 'data', name)
    const env = {
      DATABASE_URL: `file:${file('ledger-gateway.db')}`,
      KEY_FILE: file('ledger-gateway.key'),
    }
    gateway = await startGateway({ env })
    await untilHealth(gateway.url)
  })
  afterAll(async () => {
    await gateway.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const shown = ofLanguage('sh', 'text', 'console').filter(
    ({ page, language }) => !(page in notRunHere || `${page} ${language}` in notRunHere),
  )
  const pagesWithCommands = [...new Set(shown.map(({ page }) => page))]
  test.each(pagesWithCommands)('%s', { timeout: 120_000 }, async (page) => {
    const cwd = join(folder, page.replaceAll('/', '-'))
    mkdirSync(cwd)
    symlinkSync(join(folder, 'data'), join(cwd, 'data'))
    for (const [name, text] of Object.entries(filesOf)) writeFileSync(join(cwd, name), text)
    for (const { text } of ofLanguage('json').filter((block) => block.page === page)) {
      writeFileSync(join(cwd, 'gateway.json'), text)
    }
    const ofPage = shown.filter((block) => block.page === page).map(commandsIn)
    const script = [shell, before[page] ?? '', ...ofPage].join('\n')
    const { stdout } = await inShell(script.replaceAll('http://127.0.0.1:4000', gateway.url), {
      cwd,
      GATEWAY_URL: gateway.url,
    })
    for (const part of printed[page] ?? []) expect(stdout).toContain(part)
  })

  test('inline code with ledger-gateway', { timeout: 120_000 }, async () => {
    const cwd = join(folder, 'sentences')
    mkdirSync(cwd)
    symlinkSync(join(folder, 'data'), join(cwd, 'data'))
    const [vector] = loadVectors<SemanticVector>('semantic-tx')
    writeFileSync(join(cwd, 'case'), semanticLine('tx', present(vector, 'a transaction')))
    expect(sentences.length).toBeGreaterThan(15)
    const script = [shell, refused, ...sentences.map(({ run }) => run)].join('\n')
    await inShell(script, { cwd, GATEWAY_URL: gateway.url })
  })

  test('npm in a checkout without an installed Node', async () => {
    const { stdout } = await inShell('npm run -s ledger-gateway -- --version', { cwd: root })
    expect(stdout).toBe(`${packageJson.version}\n`)
  })

  test('other pages in existing tests', () => {
    const there = Object.entries(notRunHere).filter(([page]) =>
      existsSync(join(root, page.replace(/ .*/, ''))),
    )
    expect(there.length).toBeGreaterThan(1)
    const missing = there.filter(([, file]) => !existsSync(join(root, 'test', file)))
    expect(missing).toEqual([])
  })

  test.each(ofLanguage('graphql').map(({ page, line, text }) => [page, line, text] as const))(
    '%s, line %i, in GraphQL',
    async (_page, _line, query) => {
      if (query.startsWith('subscription')) {
        const client = socketClient(gateway.url)
        const events = client.iterate({ query })[Symbol.asyncIterator]()
        const { value } = await events.next()
        expect(value).toMatchObject({ data: { ledgerUpdates: { __typename: 'FeedOpened' } } })
        await events.return?.()
        await client.dispose()
      } else if (query.startsWith('mutation')) {
        const authorization = `Bearer ${await gateway.token('chain-record:write')}`
        expect(await graphql(gateway.url, query, {}, { authorization })).toEqual({
          data: expect.anything(),
        })
      } else {
        const { data, errors } = await graphql(gateway.url, query)
        expect(errors).toBeUndefined()
        expect(JSON.stringify(data)).toContain('"milestoneIndex":0')
      }
    },
  )
})

describe('the other examples', () => {
  test('have known languages', () => {
    const known = ['sh', 'text', 'console', 'graphql', 'json', 'js', 'ts', 'tsx', 'yaml']
    expect(blocks.length).toBeGreaterThan(25)
    expect(blocks.filter(({ language }) => !known.includes(language))).toEqual([])
  })

  test.each(ofLanguage('js', 'ts').map(({ page, line, text }) => [page, line, text] as const))(
    'in %s, line %i, are TypeScript',
    (_page, _line, text) =>
      // An ellipsis marks an omission in an example.
      expect(() => stripTypeScriptTypes(text.replaceAll('…', ''))).not.toThrow(),
  )

  test.each(ofLanguage('json').map(({ page, line, text }) => [page, line, text] as const))(
    'in %s, line %i, are JSON',
    (_page, _line, text) => expect(() => JSON.parse(text)).not.toThrow(),
  )

  test.each(ofLanguage('yaml').map(({ page, line, text }) => [page, line, text] as const))(
    'in %s, line %i, are YAML',
    (_page, _line, text) => expect(parse(text)).toBeInstanceOf(Object),
  )
})

/** Names in the pages that the source does not have: a variable of OpenTelemetry, and the code of an example. */
const namesOfOthers = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'FEATURE_DEADLINE_ZERO']

describe('the pages name', () => {
  const inline = pages.flatMap(({ name, text }) =>
    [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => ({ page: name, code })),
  )
  const all = [
    ...inline,
    ...ofLanguage('sh', 'text', 'console').map(({ page, text }) => ({ page, code: text })),
  ]

  test('existing commands', () => {
    const known = new Set(commands.map(({ name }) => name))
    const named = all.flatMap(({ page, code }) =>
      [...code.matchAll(/(?<![\w/.-])ledger-gateway (?:-- )?([a-z][a-z-]*)/g)].map(
        ([, name = '']) => ({
          page,
          name,
        }),
      ),
    )
    expect(named.length).toBeGreaterThan(30)
    expect(named.filter(({ name }) => !known.has(name))).toEqual([])
  })

  test('existing npm scripts', () => {
    const named = all.flatMap(({ page, code }) =>
      [...code.matchAll(/npm run (?:-s |--silent )?([\w:-]+)/g)].map(([, name = '']) => ({
        page,
        name,
      })),
    )
    expect(named.length).toBeGreaterThan(30)
    expect(named.filter(({ name }) => !(name in packageJson.scripts))).toEqual([])
  })

  test('npm scripts that a test covers or that have a reason why none does', () => {
    const named = all.flatMap(({ code }) =>
      [...code.matchAll(/npm run (?:-s |--silent )?([\w:-]+)/g)].map(([, name = '']) => name),
    )
    expect(Object.keys(scripts).toSorted()).toEqual([...new Set(named)].toSorted())
    expect(missingTests(scripts)).toEqual([])
    const benches = all.flatMap(({ code }) =>
      [...code.matchAll(/npm run bench -- ([a-z-]+)/g)].map(([, name]) => `${name}.ts`),
    )
    const suites = readdirSync(join(root, 'test/bench/suites'))
    expect(benches.filter((name) => !suites.includes(name))).toEqual([])
  })

  test('other programs that a test covers or that have a reason why none does', () => {
    const programs =
      /^(?:npm (?!run)|npx |node -|node \S+ serve|docker |kubectl \w|kill -|systemd-\w+ )/
    const named = pages.flatMap(({ text }) => codeIn(text)).filter((code) => programs.test(code))
    expect(Object.keys(otherPrograms).toSorted()).toEqual([...new Set(named)].toSorted())
    expect(missingTests(otherPrograms)).toEqual([])
  })

  test('existing files and headings in links', () => {
    const links = documents.flatMap(({ name, text }) =>
      [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => ({ page: name, link })),
    )
    const near = links.filter(({ link }) => !/^https?:/.test(link))
    expect(near.length).toBeGreaterThan(60)
    expect(near.filter(({ page, link }) => !linkExists(page, link))).toEqual([])
  })

  test('existing files of the checkout in code', () => {
    const paths = documents.flatMap(({ name, text }) =>
      [...text.matchAll(/`((?:deploy|docs|prisma|src|test)\/[\w./-]+)`/g)].map(([, path = '']) => ({
        page: name,
        path,
      })),
    )
    expect(paths.length).toBeGreaterThan(300)
    // NAME stands for a file that the reader creates.
    const missing = paths.filter(({ path }) => !path.includes('NAME') && !existsSync(path))
    expect(missing).toEqual([])
  })

  test('codes, settings and log events that the source has', () => {
    const variables = Object.values(settings).map(({ variable }) => variable)
    const isName = /^(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z]+(?:-[a-z]+)+)$/
    const named = inline.filter(({ code }) => isName.test(code))
    expect(named.length).toBeGreaterThan(400)
    const files = globSync(['src/**/*.{ts,tsx}', 'test/**/*.ts', 'schema.graphql'], { cwd: root })
    const source = files
      .filter((file) => !/node_modules|generated|readme\.test/.test(file))
      .map((file) => readFileSync(join(root, file), 'utf8'))
      .join('\n')
    const known = new Set([...variables, ...namesOfOthers])
    const missing = named.filter(({ code }) => !known.has(code) && !source.includes(code))
    expect(missing).toEqual([])
  })

  test('commands that need no installed Node', () => {
    // The command in production, where no package contains a runtime. Programs of users are excluded.
    const production = 'node dist/entry.cjs serve'
    const nodes = all
      .map(({ code }) => code)
      .filter((code) => /\bnode (?!(?:\.\.\/)?follow\.mts)[\w./-]+\.[cm]?[jt]s\b/.test(code))
    expect(nodes).toEqual([production])
  })
})

describe('the README', () => {
  test('is short and has an image at its top', () => {
    expect(readme.split('\n').length).toBeLessThan(200)
    expect(readme.split('\n')[2]).toMatch(/^!\[[^\]]{20,}\]\(docs\/images\/[\w-]+\.webp\)$/)
  })

  test('lists exactly the existing commands in its table', () => {
    const [, rows = ''] = /## Commands\n([\s\S]*?)\n## /.exec(readme) ?? []
    const table = rows.split('\n').slice(3).join('\n')
    const named = [...table.matchAll(/`([a-z-]+)`/g)].map((match) => match[1])
    expect(named.sort()).toEqual(commands.map(({ name }) => name).sort())
  })

  test('links to every page of docs directly or indirectly', () => {
    expect(names.filter((name) => !reachedFrom('README.md').has(`docs/${name}`))).toEqual([])
  })
})

/** Returns the tests of a table that do not exist. */
function missingTests(table: Readonly<Record<string, string>>): readonly string[] {
  const files = Object.values(table).filter((text) => /\.test\.ts$/.test(text))
  return files.filter((file) => !existsSync(join(root, 'test', file)))
}

/** Returns the commands of a block; in a transcript they follow a dollar sign. */
function commandsIn({ language, text }: Block): string {
  if (language === 'sh') return text
  const lines = [...text.matchAll(/^\$ (.*)$/gm)].map(([, line = '']) => line)
  return lines.join('\n')
}

/** Runs a script as in the shell of a reader, whose PATH has only the installed Node. */
function inShell(script: string, { cwd, ...env }: { cwd: string; GATEWAY_URL?: string }) {
  const entry = join(root, 'dist/entry.cjs')
  if (!existsSync(entry)) throw new Error('this test needs the built program: npm run build')
  const path = process.env.PATH?.split(delimiter).filter((folder) => !folder.endsWith('.bin'))
  return promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd,
    env: {
      ...process.env,
      PATH: path?.join(delimiter),
      NODE: process.execPath,
      ENTRY: entry,
      ...env,
    },
  })
}

function linkExists(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(root, target))) return false
  return heading === undefined || headingsOf(target).includes(heading)
}

/** Returns the anchors of the headings as GitHub creates them. */
function headingsOf(page: string): readonly string[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}

/** Returns the pages that a page links to directly or indirectly. */
function reachedFrom(first: string): ReadonlySet<string> {
  const reached = new Set([first])
  for (const page of reached) {
    const text = pages.find(({ name }) => name === page)?.text ?? ''
    for (const [, link = ''] of text.matchAll(/\]\(([^)\s#]+\.md)/g)) {
      reached.add(join(dirname(page), link))
    }
  }
  return reached
}
