import { execFile } from 'node:child_process'
import {
  existsSync,
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
import { graphql, socketClient } from './support/client.ts'
import { type SemanticVector, semanticLine } from './support/semantic-questions.ts'
import { startGateway, type TestGateway } from './support/start-gateway.ts'
import { loadVectors } from './support/vectors.ts'
import { untilHealth } from './support/wallet.ts'

/** What the README and the pages of docs show works: their commands and documents are run. */

const root = fileURLToPath(new URL('..', import.meta.url))
const names = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
const pages = ['README.md', ...names.map((name) => `docs/${name}`)].map((name) => {
  return { name, text: readFileSync(join(root, name), 'utf8') }
})
const readme = pages[0]?.text ?? ''

interface Block {
  readonly page: string
  readonly language: string
  /** The line of the page before it. */
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

/** Pages whose commands another test runs, or none. */
const notRunHere: Readonly<Record<string, string>> = {
  'docs/cli.md': 'cli/cli-page.test.ts',
  'docs/rest.md': 'api/rest/handbook.test.ts',
  // For the tools of deployments; that test runs what can be run of them.
  'docs/deploy.md': 'deploy/manifests.test.ts',
  // A PostgreSQL with standbys; the first of its commands is of the shell alone.
  'docs/high-availability.md': 'e2e/restored.test.ts',
  // The story of the page, with the installed packages.
  'docs/operations.md console': 'checkout/package.test.ts',
  // It loads an SDK of the operator's choice; that test has a tracer of its own.
  'docs/tracing.md': 'metrics/tracing.test.ts',
}

/** What the commands of a page find, by the name of the file. */
const filesOf: Readonly<Record<string, string>> = {
  'jwt.txt': 'a secret of more than thirty-two bytes\n',
  'secret.txt': 'a secret of more than thirty-two bytes\n',
  'issuer.txt': `0x${'ab'.repeat(32)}\n`,
}

/** What the sentences of a page say before its commands. */
const before: Readonly<Record<string, string>> = {
  'docs/upgrade.md': 'ledger-gateway backup ledger.backup',
}

/** What the commands of a page print among other things. */
const printed: Readonly<Record<string, readonly string[]>> = {
  'README.md': ['"outputId":"0x', '"problems":[]'],
  'docs/inspect.md': ['  blockId: 0x', 'problems: none\n'],
  'docs/settings.md': ['"problems":[]'],
}

/** The commands as a shell of the reader would run them, but for those that serve without an end: they print the settings. */
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
    # They are the test of this checkout, and cli/demo.test.ts.
    ci | test | 'run demo') ;;
    *) echo "this test does not know npm $*" >&2; return 1 ;;
  esac
}
curl() { command curl -sS --fail-with-body "$@"; }
# e2e/clock.test.ts sends it to a gateway.
kill() { [ "$*" = '-USR2 PID' ]; }
`

/** Commands of sentences that are refused beside the gateway of this test, with what they say; the comment has the test where they work. */
const refusedHere: Readonly<Record<string, string>> = {
  // e2e/workers.test.ts
  'serve --workers 4': 'a SQLite file is for one process',
  // e2e/restored.test.ts
  'restore --accept': 'there is nothing to accept',
  // cli/partition.test.ts, store/partition-log.test.ts, e2e/partitions.test.ts
  partition: 'PARTITIONS_NOT_SUPPORTED',
  // cli/distribute.test.ts, store/distribute-log.test.ts
  distribute: 'SHARDS_NOT_SUPPORTED',
  // cli/rebuild-activity.test.ts
  'rebuild-activity': 'writes this database',
}

/** What stands for the capitals in commands of sentences. */
const placeholders: Readonly<Record<string, string>> = {
  COMMAND: 'check',
  TOPIC: 'exit-codes',
  'snapshot write FILE': 'snapshot write ledger.snapshot',
  'snapshot check FILE': 'snapshot check ledger.snapshot',
  'verify FILE': 'verify case',
}

const refused = `
refused() {
  local part=$1 said
  shift
  if said=$("$@" 2>&1); then echo "not refused: $*" >&2; return 1; fi
  [[ $said == *"$part"* ]] || { echo "$*: $said" >&2; return 1; }
}
`

/** Each command of `ledger-gateway` that stands in a sentence. A name alone is run where it needs no more, and shows its help else. */
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
  const said = refusedHere[given]
  return [{ code, run: said === undefined ? run : `refused '${said}' ${run}` }]
})

/** The code in the sentences of a page. */
function codeIn(text: string): readonly string[] {
  const prose = text.replaceAll(/^( *)```[\s\S]*?^ *```$/gm, '')
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
}

/** Scripts of npm that the pages name: the test that does what they do, or why none does. */
const scripts: Readonly<Record<string, string>> = {
  // Before every check.
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
  fix: 'not run: it writes into the checkout; every check asks for what it does',
  screenshots: 'not run: it writes the pictures of the pages',
  bench: 'not run: minutes on a machine that does nothing else',
  attack: 'e2e/attack.test.ts',
  torture: 'e2e/kill.test.ts',
  'test:clients': 'not run: it fetches packages from a registry',
  'test:runtimes': 'not run: it fetches Node from a registry',
  'test:upgrade': 'not run: it needs the package of a former release',
  'test:deploy': 'deploy/image.test.ts',
}

/** Other programs in sentences: the test that runs them or does what they do, or why none does. */
const otherPrograms: Readonly<Record<string, string>> = {
  'npm start': 'checkout/entry.test.ts',
  'npm ci': 'not run: it made this checkout',
  'npm ci --cache EMPTY': 'not run: it fetches all packages anew, for a measurement',
  'npm ci --omit=dev': 'deploy/image.test.ts',
  'npm pack': 'checkout/package.test.ts',
  'npm install ledger-gateway-0.1.0.tgz': 'checkout/package.test.ts',
  'npx ledger-gateway serve': 'checkout/package.test.ts',
  'node dist/entry.cjs serve': 'checkout/entry.test.ts',
  'node --cpu-prof dist/main.js serve': 'not run: it profiles by hand',
  'npm audit --omit=dev': 'not run: it asks a registry',
  'kill -9': 'e2e/kill.test.ts',
  'docker compose up': 'not run: there is no Docker',
  'docker compose up --build --detach --no-deps gateway-1': 'not run: there is no Docker',
  'docker compose stop gateway-1 gateway-2': 'not run: there is no Docker',
  'kubectl apply': 'not run: there is no cluster',
  'kubectl scale deployment/ledger-gateway --replicas=0': 'not run: there is no cluster',
  'systemd-analyze security':
    'not run: there is no systemd; npm run test:deploy runs it where there is',
}

describe('the commands of', () => {
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

  test('sentences, of ledger-gateway', { timeout: 120_000 }, async () => {
    const cwd = join(folder, 'sentences')
    mkdirSync(cwd)
    symlinkSync(join(folder, 'data'), join(cwd, 'data'))
    const [vector] = loadVectors<SemanticVector>('semantic-tx')
    writeFileSync(join(cwd, 'case'), semanticLine('tx', present(vector, 'a transaction')))
    expect(sentences.length).toBeGreaterThan(15)
    const script = [shell, refused, ...sentences.map(({ run }) => run)].join('\n')
    await inShell(script, { cwd, GATEWAY_URL: gateway.url })
  })

  test('a checkout, by npm, need no Node of its own', async () => {
    const { stdout } = await inShell('npm run -s ledger-gateway -- --version', { cwd: root })
    expect(stdout).toBe(`${packageJson.version}\n`)
  })

  test('pages that are not run here are run elsewhere', () => {
    const there = Object.entries(notRunHere).filter(([page]) =>
      existsSync(join(root, page.replace(/ .*/, ''))),
    )
    expect(there.length).toBeGreaterThan(1)
    const missing = there.filter(([, file]) => !existsSync(join(root, 'test', file)))
    expect(missing).toEqual([])
  })

  test.each(ofLanguage('graphql').map(({ page, line, text }) => [page, line, text] as const))(
    '%s, line %i, by GraphQL',
    async (_page, _line, query) => {
      if (query.startsWith('subscription')) {
        const client = socketClient(gateway.url)
        const events = client.iterate({ query })[Symbol.asyncIterator]()
        const { value } = await events.next()
        expect(value).toMatchObject({ data: { ledgerUpdates: { __typename: 'FeedOpened' } } })
        await events.return?.()
        await client.dispose()
      } else {
        const { data, errors } = await graphql(gateway.url, query)
        expect(errors).toBeUndefined()
        expect(JSON.stringify(data)).toContain('"milestoneIndex":0')
      }
    },
  )
})

describe('the other examples', () => {
  test('are of languages that this test knows', () => {
    const known = ['sh', 'text', 'console', 'graphql', 'json', 'js', 'ts', 'tsx', 'yaml']
    expect(blocks.length).toBeGreaterThan(25)
    expect(blocks.filter(({ language }) => !known.includes(language))).toEqual([])
  })

  test.each(ofLanguage('js', 'ts').map(({ page, line, text }) => [page, line, text] as const))(
    'in %s, line %i, are TypeScript',
    (_page, _line, text) =>
      // What is left out of an example is an ellipsis.
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

describe('what the pages name', () => {
  const inline = pages.flatMap(({ name, text }) =>
    [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => ({ page: name, code })),
  )
  const all = [
    ...inline,
    ...ofLanguage('sh', 'text', 'console').map(({ page, text }) => ({ page, code: text })),
  ]

  test('as commands are commands', () => {
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

  test('as scripts of npm are scripts', () => {
    const named = all.flatMap(({ page, code }) =>
      [...code.matchAll(/npm run (?:-s |--silent )?([\w:-]+)/g)].map(([, name = '']) => ({
        page,
        name,
      })),
    )
    expect(named.length).toBeGreaterThan(30)
    expect(named.filter(({ name }) => !(name in packageJson.scripts))).toEqual([])
  })

  test('as scripts of npm are run by a test, or said not to be', () => {
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

  test('as other programs are run by a test, or said not to be', () => {
    const programs =
      /^(?:npm (?!run)|npx |node -|node \S+ serve|docker |kubectl \w|kill -|systemd-\w+ )/
    const named = pages.flatMap(({ text }) => codeIn(text)).filter((code) => programs.test(code))
    expect(Object.keys(otherPrograms).toSorted()).toEqual([...new Set(named)].toSorted())
    expect(missingTests(otherPrograms)).toEqual([])
  })

  test('as other files is there, and so are its headings', () => {
    const links = pages.flatMap(({ name, text }) =>
      [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => ({ page: name, link })),
    )
    const near = links.filter(({ link }) => !/^https?:/.test(link))
    expect(near.length).toBeGreaterThan(60)
    expect(near.filter(({ page, link }) => !leadsSomewhere(page, link))).toEqual([])
  })

  test('as commands needs no Node that is installed', () => {
    // The one that serves in production, where nothing brings a runtime; a user's own program is another matter.
    const production = 'node dist/entry.cjs serve'
    const nodes = all
      .map(({ code }) => code)
      .filter((code) => /\bnode (?!(?:\.\.\/)?follow\.ts)[\w./-]+\.[cm]?[jt]s\b/.test(code))
    expect(nodes).toEqual([production])
  })
})

describe('the README', () => {
  test('is short, and has a picture at its top', () => {
    expect(readme.split('\n').length).toBeLessThan(200)
    expect(readme.split('\n')[2]).toMatch(/^!\[[^\]]{20,}\]\(docs\/images\/[\w-]+\.webp\)$/)
  })

  test('names every command and no other in its table of commands', () => {
    const [, rows = ''] = /## Commands\n([\s\S]*?)\n## /.exec(readme) ?? []
    const table = rows.split('\n').slice(3).join('\n')
    const named = [...table.matchAll(/`([a-z-]+)`/g)].map((match) => match[1])
    expect(named.sort()).toEqual(commands.map(({ name }) => name).sort())
  })

  test('leads to every page of docs', () => {
    expect(names.filter((name) => !reachedFrom('README.md').has(`docs/${name}`))).toEqual([])
  })
})

/** The tests of a table that are not there. */
function missingTests(table: Readonly<Record<string, string>>): readonly string[] {
  const files = Object.values(table).filter((text) => /\.test\.ts$/.test(text))
  return files.filter((file) => !existsSync(join(root, 'test', file)))
}

/** The commands of a block: a transcript has them behind a dollar sign. */
function commandsIn({ language, text }: Block): string {
  if (language === 'sh') return text
  const lines = [...text.matchAll(/^\$ (.*)$/gm)].map(([, line = '']) => line)
  return lines.join('\n')
}

/** As in a shell of the reader, where the installed Node is the one that is found. */
function inShell(script: string, { cwd, ...env }: { cwd: string; GATEWAY_URL?: string }) {
  const path = process.env.PATH?.split(delimiter).filter((folder) => !folder.endsWith('.bin'))
  return promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd,
    env: {
      ...process.env,
      PATH: path?.join(delimiter),
      NODE: process.execPath,
      ENTRY: join(root, 'dist/entry.cjs'),
      ...env,
    },
  })
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(root, target))) return false
  return heading === undefined || headingsOf(target).includes(heading)
}

/** As GitHub names them. */
function headingsOf(page: string): readonly string[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}

/** The pages that a page links to, by way of others too. */
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
