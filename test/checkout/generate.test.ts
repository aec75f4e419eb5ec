import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allClients, clientsOf, generateClients, isCurrent } from '../support/generate.ts'

/** The database clients are generated after a change only, not at every start. */

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const clients = ['prisma', 'postgresql'].map((name) => `src/generated/${name}/client.ts`)
const startMessage = 'Generating the database clients from prisma/schema.prisma …\n'
let root = ''

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'ledger-gateway-generate-'))
  for (const name of ['prisma', 'package.json', 'prisma.config.ts']) {
    cpSync(join(checkout, name), join(root, name), { recursive: true })
  }
  symlinkSync(join(checkout, 'node_modules'), join(root, 'node_modules'))
})

afterAll(() => rmSync(root, { recursive: true }))

describe('a command uses', () => {
  const url = 'postgresql://user@host/name'
  const rows = [
    ['SQLite by default', ['serve', '--port', '4001'], undefined, ['sqlite']],
    ['SQLite by a file URL', ['serve'], 'file:./data/postgres.db', ['sqlite']],
    ['PostgreSQL by the variable', ['serve'], url, allClients],
    ['PostgreSQL by the flag', ['serve', '--database', url], undefined, allClients],
    ['PostgreSQL by the flag in one word', [`--database=${url}`], 'file:a.db', allClients],
  ] as const
  test.each(rows)('%s', (_name, words, databaseUrl, names) =>
    expect(clientsOf(words, databaseUrl)).toEqual(names),
  )
})

describe('the database clients', { timeout: 90_000 }, () => {
  test('are generated separately', async () => {
    expect(await generate(['sqlite'])).toMatchObject({ isGenerated: true })
    expect(allClients.map((name) => isCurrent(root, name))).toEqual([true, false])
    expect(existsSync(join(root, 'src/generated/postgresql'))).toBe(false)
  })

  test('are generated if they are missing, and not a second time', async () => {
    expect(areCurrent()).toBe(false)
    const generated = await generate()
    expect(generated.isGenerated).toBe(true)
    expect(generated.messages).toEqual([
      startMessage,
      expect.stringMatching(/^Generated in \d+\.\d s\.\n$/),
    ])
    const before = times()
    expect(await generate()).toEqual({ isGenerated: true, messages: [] })
    expect(times()).toEqual(before)
  })

  test('are out of date if one is missing, or if a schema or the version of Prisma changes', () => {
    const files = [
      ['src/generated/postgresql/client.ts', undefined],
      ['prisma/schema.prisma', '// Another.'],
      ['prisma/postgresql/schema.prisma', '// Another.'],
      ['package.json', '{"devDependencies":{"prisma-cli":"npm:prisma@7.10.1"}}'],
    ] as const
    for (const [file, changed] of files) {
      const text = readFileSync(join(root, file))
      if (changed === undefined) rmSync(join(root, file))
      else writeFileSync(join(root, file), changed)
      expect(areCurrent()).toBe(false)
      writeFileSync(join(root, file), text)
      expect(areCurrent()).toBe(true)
    }
  })

  test('are missing after a wrong schema until it is corrected', async () => {
    const file = join(root, 'prisma/schema.prisma')
    const text = readFileSync(file)
    appendFileSync(file, '\nmodel Broken {\n')
    const refused = await generate()
    expect(refused.isGenerated).toBe(false)
    expect(refused.messages.join('')).toContain('Error code: P1012\n')
    expect(areCurrent()).toBe(false)
    writeFileSync(file, text)
    expect(areCurrent()).toBe(false)
    expect(await generate()).toMatchObject({ isGenerated: true })
    expect(areCurrent()).toBe(true)
  })
})

function areCurrent(): boolean {
  return allClients.every((name) => isCurrent(root, name))
}

async function generate(names = allClients) {
  const messages: string[] = []
  const isGenerated = await generateClients(names, { root, say: (text) => messages.push(text) })
  return { isGenerated, messages }
}

function times(): readonly number[] {
  return clients.map((client) => statSync(join(root, client)).mtimeMs)
}
